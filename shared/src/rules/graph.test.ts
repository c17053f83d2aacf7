// Faults in dependencies, and the path of a cycle.
import { expect, test } from 'vitest';
import { findCycle, type GraphNode, graphIssues } from './graph.ts';

const nodes = (graph: Record<string, string[]>): GraphNode[] =>
  Object.entries(graph).map(([id, needs]) => ({ id, needs }));
const messages = (graph: GraphNode[]) => graphIssues(graph, (id) => id).map((issue) => issue.message);

test('a DAG has no faults', () => {
  expect(messages(nodes({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }))).toEqual([]);
});

test('an unknown dependency is named with its job', () => {
  expect(messages(nodes({ a: ['x'] }))).toEqual(["Job 'a' depends on 'x', which doesn't exist"]);
});

test('an id that appears twice is named', () => {
  expect(messages([...nodes({ a: [] }), ...nodes({ a: [] })])).toEqual(["Job 'a' appears twice"]);
});

test('a cycle is told by its path, without what only leads to it', () => {
  expect(findCycle(nodes({ top: [], a: ['top', 'c'], b: ['a'], c: ['b'], tail: ['c'] }))).toEqual([
    'a',
    'c',
    'b',
    'a',
  ]);
  expect(findCycle(nodes({ self: ['self'] }))).toEqual(['self', 'self']);
  expect(findCycle(nodes({ tail: ['a'], a: ['b'], b: ['a'] }))).toEqual(['a', 'b', 'a']);
});

test('10,000 jobs in a circle are found quickly', () => {
  const ring = Array.from({ length: 10_000 }, (_, index) => ({
    id: `j${index}`,
    needs: [`j${(index + 1) % 10_000}`],
  }));
  expect(findCycle(ring)).toHaveLength(10_001);
});

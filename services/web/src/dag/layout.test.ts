import { array, assert, nat, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCrossings } from './crossings.ts';
import type { Vertex } from './layers.ts';
import { layOut, NODE_HEIGHT, NODE_WIDTH } from './layout.ts';
import { isotonic } from './spread.ts';

const v = (id: string | number, ...needs: (string | number)[]): Vertex => ({
  id: String(id),
  needs: needs.map(String),
});
const many = (count: number, needs: (n: number) => number[]) =>
  Array.from({ length: count }, (_, n) => v(n, ...needs(n)));

/** Numbers that are the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const pick = numbers(7);
const SHAPES: Record<string, Vertex[]> = {
  layered: many(2_000, (n) => (n < 50 ? [] : [0, 1].map(() => n - (n % 50) - 50 + pick(50)))),
  random: many(2_000, (n) =>
    n === 0 ? [] : Array.from({ length: pick(3) }, () => Math.max(0, n - 1 - pick(80))),
  ),
  fan: many(2_000, (n) =>
    n === 0 ? [] : n === 1_999 ? Array.from({ length: 1_998 }, (_, at) => at + 1) : [0],
  ),
  chain: many(2_000, (n) => (n === 0 ? [] : [n - 1])),
  matrix: many(2_000, (n) => (n < 20 ? [] : [n - 20])),
};

describe('shapes of 2,000 nodes', () => {
  test.each(Object.entries(SHAPES))('%s', (name, vertices) => {
    const startedAt = performance.now();
    const { places, edges, width, height } = layOut(vertices);
    const ms = performance.now() - startedAt;
    console.log(`${name}: ${ms.toFixed(0)} ms, ${width} × ${height}, ${edges.length} edges`);
    expect(places).toHaveLength(2_000);
    expectApart(places);
  });
});

/** No two nodes touch. */
function expectApart(places: readonly { x: number; y: number }[]): void {
  const columns = Map.groupBy(places, ({ x }) => x);
  for (const column of columns.values()) {
    const tops = column.map(({ y }) => y).sort((a, b) => a - b);
    for (const [at, top] of tops.entries())
      expect(top - (tops[at - 1] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThan(NODE_HEIGHT);
  }
}

const dags = array(array(nat(), { maxLength: 4 }), { minLength: 1, maxLength: 40 }).map((all) =>
  all.map((needs, n) => v(n, ...(n === 0 ? [] : needs.map((one) => one % n)))),
);

test('nodes do not overlap, edges lead to the right and end at their nodes, and it is always the same', () => {
  assert(
    property(dags, (vertices) => {
      const layout = layOut(vertices);
      expectApart(layout.places);
      for (const { from, to, points } of layout.edges) {
        const [a, b] = [layout.places[from], layout.places[to]];
        if (!a || !b) throw new Error('an edge without a node');
        expect(points[0]).toEqual({ x: a.x + NODE_WIDTH, y: a.y + NODE_HEIGHT / 2 });
        expect(points.at(-1)).toEqual({ x: b.x, y: b.y + NODE_HEIGHT / 2 });
        for (const [at, { x }] of points.entries()) expect(x).toBeGreaterThan(points[at - 1]?.x ?? -1);
      }
      expect(layOut(vertices)).toEqual(layout);
    }),
  );
});

test('the sample pipeline has four columns and its seven edges', () => {
  const needs = { lint: [], unit: [], e2e: [], build: ['lint', 'unit', 'e2e'] };
  const rest = { docker: ['build'], docs: ['build'], pack: ['build'], web: ['docker'] };
  const { places, edges } = layOut(Object.entries({ ...needs, ...rest }).map(([id, of]) => v(id, ...of)));
  expect(edges).toHaveLength(7);
  expect(new Set(places.map(({ x }) => x)).size).toBe(4);
});

test('a job that nothing needs and one that needs nothing', () => {
  expect(layOut([])).toEqual({ places: [], edges: [], width: 0, height: 0 });
  const { width, height } = layOut([v('a')]);
  expect([width, height]).toEqual([NODE_WIDTH, NODE_HEIGHT]);
});

test('a source stands right before what needs it', () => {
  const { places } = layOut([v('a'), v('b', 'a'), v('c', 'b'), v('late'), v('d', 'c', 'late')]);
  expect(places[3]?.x).toBe(places[2]?.x);
});

test('crossings are counted', () => {
  expect(
    countCrossings(
      [
        [0, 0],
        [1, 1],
      ],
      2,
    ),
  ).toBe(0);
  expect(
    countCrossings(
      [
        [0, 1],
        [1, 0],
      ],
      2,
    ),
  ).toBe(1);
  expect(
    countCrossings(
      [
        [0, 2],
        [1, 1],
        [2, 0],
      ],
      3,
    ),
  ).toBe(3);
  expect(
    countCrossings(
      [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ],
      2,
    ),
  ).toBe(1);
});

test('the nearest rising sequence', () => {
  expect(isotonic([1, 2, 3])).toEqual([1, 2, 3]);
  expect(isotonic([3, 1, 2])).toEqual([2, 2, 2]);
  expect(isotonic([1, 5, 3, 4])).toEqual([1, 4, 4, 4]);
});

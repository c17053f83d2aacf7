// Where the nodes of each column stand: near their neighbours, in order, and with room between them. Pure.
import type { Graph } from './layers.ts';
import { average } from './order.ts';

const ROUNDS = 3;

/**
 * The middle of each vertex. `columns` has them in their order; `rooms` how much each takes. What they wish is their
 * neighbours' average; what they get is the nearest to that (by squares) in order: isotonic regression by pooling of
 * adjacent violators.
 */
export function spread(graph: Graph, columns: readonly number[][], rooms: readonly number[]): number[] {
  const middles: number[] = [];
  for (const column of columns) {
    let top = 0;
    for (const v of column) {
      const room = rooms[v] ?? 0;
      middles[v] = top + room / 2;
      top += room;
    }
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const column of columns) settle(column, graph.parents);
    for (const column of columns.toReversed()) settle(column, graph.children);
  }
  for (const column of columns) settle(column, graph.parents);
  return middles;

  function settle(column: readonly number[], neighbours: readonly number[][]): void {
    let before = 0;
    const offsets = column.map((v, at) => {
      const room = rooms[v] ?? 0;
      before += at === 0 ? 0 : ((rooms[column[at - 1] ?? 0] ?? 0) + room) / 2;
      return before;
    });
    const wishes = column.map(
      (v, at) => (average(neighbours[v] ?? [], middles) ?? middles[v] ?? 0) - (offsets[at] ?? 0),
    );
    for (const [at, fit] of isotonic(wishes).entries()) middles[column[at] ?? 0] = fit + (offsets[at] ?? 0);
  }
}

/** The rising sequence nearest to `values` (by squares). */
export function isotonic(values: readonly number[]): number[] {
  const blocks: { sum: number; count: number }[] = [];
  for (const value of values) {
    let block = { sum: value, count: 1 };
    for (
      let last = blocks.at(-1);
      last && last.sum / last.count >= block.sum / block.count;
      last = blocks.at(-1)
    ) {
      blocks.pop();
      block = { sum: last.sum + block.sum, count: last.count + block.count };
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count));
}

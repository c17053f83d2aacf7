// In which order the nodes of each column stand, so that few edges cross: barycentre sweeps (Sugiyama, Tagawa, Toda 1981).
// Pure.
import { countCrossings } from './crossings.ts';
import type { Graph } from './layers.ts';

const SWEEPS = 8;

/** The vertices of each column in their order from above; edges lead from a column to the next one only. */
export function orderColumns(graph: Graph, layers: readonly number[]): number[][] {
  let columns = firstOrder(graph, layers);
  let best = columns;
  let fewest = crossingsOf(graph, columns);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    columns = swept(columns, sweep % 2 === 0 ? graph.parents : graph.children, sweep % 2 === 0);
    const crossings = crossingsOf(graph, columns);
    if (crossings < fewest) [best, fewest] = [columns, crossings];
  }
  return best;
}

/** Depth first: what belongs together stands together. */
function firstOrder({ parents, children }: Graph, layers: readonly number[]): number[][] {
  const columns: number[][] = Array.from(
    { length: layers.reduce((a, b) => Math.max(a, b), 0) + 1 },
    () => [],
  );
  const seen = new Uint8Array(layers.length);
  const roots = parents.flatMap((from, v) => (from.length === 0 ? [v] : []));
  const stack = roots.toReversed();
  for (let v = stack.pop(); v !== undefined; v = stack.pop()) {
    if (seen[v] === 1) continue;
    seen[v] = 1;
    columns[layers[v] ?? 0]?.push(v);
    for (const child of (children[v] ?? []).toReversed()) if (seen[child] !== 1) stack.push(child);
  }
  return columns;
}

/** Each column sorted by where its neighbours stand on average, from the first to the last or back. */
function swept(
  columns: readonly number[][],
  neighbours: readonly number[][],
  isForward: boolean,
): number[][] {
  const next = columns.map((column) => [...column]);
  const places = placesOf(next);
  const order = isForward ? next.keys() : [...next.keys()].toReversed();
  for (const index of order) {
    const column = next[index] ?? [];
    const wish = new Map(column.map((v) => [v, average(neighbours[v] ?? [], places) ?? places[v] ?? 0]));
    column.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0));
    for (const [place, v] of column.entries()) places[v] = place;
  }
  return next;
}

function crossingsOf({ children }: Graph, columns: readonly number[][]): number {
  const places = placesOf(columns);
  let crossings = 0;
  for (const [index, column] of columns.entries()) {
    const edges = column.flatMap((v) =>
      (children[v] ?? []).map((child): [number, number] => [places[v] ?? 0, places[child] ?? 0]),
    );
    crossings += countCrossings(edges, columns[index + 1]?.length ?? 0);
  }
  return crossings;
}

function placesOf(columns: readonly number[][]): number[] {
  const places: number[] = [];
  for (const column of columns) for (const [place, v] of column.entries()) places[v] = place;
  return places;
}

/** Null of none. */
export function average(of: readonly number[], values: readonly number[]): number | null {
  if (of.length === 0) return null;
  let sum = 0;
  for (const v of of) sum += values[v] ?? 0;
  return sum / of.length;
}

// How often the edges between two columns cross. Pure.

/** Pairs of edges that cross, for each edge `[from, to]` by its ends' places in their columns; `size`: of the second. */
export function countCrossings(edges: [number, number][], size: number): number {
  // From above: an edge crosses those before it which end below it. A Fenwick tree counts them.
  edges.sort(([a, c], [b, d]) => a - b || c - d);
  const tree = new Int32Array(size + 1);
  let crossings = 0;
  let seen = 0;
  for (const [, to] of edges) {
    let above = 0;
    for (let i = to + 1; i > 0; i -= i & -i) above += tree[i] ?? 0;
    crossings += seen - above;
    seen++;
    for (let i = to + 1; i <= size; i += i & -i) tree[i] = (tree[i] ?? 0) + 1;
  }
  return crossings;
}

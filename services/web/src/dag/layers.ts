// Which column each node of a graph stands in: behind all that it needs. Pure.

/** What is drawn as one box: a job, or a group of alike ones. */
export interface Vertex {
  id: string;
  /** Ids of vertices that come before; others are left out. */
  needs: readonly string[];
}

/** A graph by numbers: `parents[v]` and `children[v]` are indexes into the vertices. */
export interface Graph {
  parents: number[][];
  children: number[][];
}

/** The graph of vertices, whose ids are unique. */
export function graphOf(vertices: readonly Vertex[]): Graph {
  const index = new Map(vertices.map(({ id }, at) => [id, at]));
  const parents = vertices.map(({ needs }) => [
    ...new Set(needs.flatMap((id) => (index.has(id) ? [index.get(id) ?? 0] : []))),
  ]);
  const children: number[][] = vertices.map(() => []);
  for (const [child, from] of parents.entries()) for (const parent of from) children[parent]?.push(child);
  return { parents, children };
}

/** The column of each vertex, from 0: the longest way to it. What needs nothing stands right before its first child. */
export function layersOf({ parents, children }: Graph): number[] {
  const layers = parents.map(() => 0);
  const open = parents.map((from) => from.length);
  const ready = open.flatMap((count, v) => (count === 0 ? [v] : []));
  for (const v of ready) {
    for (const child of children[v] ?? []) {
      layers[child] = Math.max(layers[child] ?? 0, (layers[v] ?? 0) + 1);
      open[child] = (open[child] ?? 0) - 1;
      if (open[child] === 0) ready.push(child);
    }
  }
  for (const [v, from] of parents.entries()) {
    const next = (children[v] ?? []).map((child) => layers[child] ?? 0);
    if (from.length === 0 && next.length > 0) layers[v] = Math.min(...next) - 1;
  }
  return layers;
}

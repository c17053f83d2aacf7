// Lays a graph out in columns, from left to right: the same graph always in the same way. Pure, and quick enough for
// thousands of nodes to need no worker thread.
import { graphOf, layersOf, type Graph, type Vertex } from './layers.ts';
import { orderColumns } from './order.ts';
import { spread } from './spread.ts';

export const NODE_WIDTH = 200;
export const NODE_HEIGHT = 46;
const COLUMN_GAP = 56;
const ROW_GAP = 14;
/** For a line that passes by. */
const LINE_ROOM = 10;

export interface Point {
  x: number;
  y: number;
}

export interface Edge {
  /** Indexes into the vertices. */
  from: number;
  to: number;
  /** From the right of one node to the left of the other, through a point in each column between. */
  points: readonly Point[];
}

export interface Layout {
  /** The upper left corner of each vertex, in their order. */
  places: readonly Point[];
  edges: readonly Edge[];
  width: number;
  height: number;
}

/** Vertices with ids of their own, without a circle. */
export function layOut(vertices: readonly Vertex[]): Layout {
  const graph = graphOf(vertices);
  const layers = layersOf(graph);
  const { long, chains } = withLines(graph, layers);
  const columns = orderColumns(long, layers);
  const rooms = layers.map((_, v) => (v < vertices.length ? NODE_HEIGHT + ROW_GAP : LINE_ROOM));
  const middles = spread(long, columns, rooms);
  const top =
    Math.min(...vertices.map((_, v) => middles[v] ?? 0), Number.POSITIVE_INFINITY) - NODE_HEIGHT / 2;
  const left = (v: number) => (layers[v] ?? 0) * (NODE_WIDTH + COLUMN_GAP);
  const middle = (v: number) => Math.round((middles[v] ?? 0) - top);
  const places = vertices.map((_, v) => ({ x: left(v), y: middle(v) - NODE_HEIGHT / 2 }));
  const edges = chains.map(({ from, to, via }) => ({
    from,
    to,
    points: [
      { x: left(from) + NODE_WIDTH, y: middle(from) },
      ...via.flatMap((v) => [
        { x: left(v), y: middle(v) },
        { x: left(v) + NODE_WIDTH, y: middle(v) },
      ]),
      { x: left(to), y: middle(to) },
    ],
  }));
  return { places, edges, ...sizeOf(places) };
}

function sizeOf(places: readonly Point[]): { width: number; height: number } {
  let [width, height] = [0, 0];
  for (const { x, y } of places) {
    width = Math.max(width, x + NODE_WIDTH);
    height = Math.max(height, y + NODE_HEIGHT);
  }
  return { width, height };
}

interface Chain {
  from: number;
  to: number;
  via: number[];
}

/** The graph with a vertex in each column that an edge passes; `layers` gets theirs. */
function withLines({ parents, children }: Graph, layers: number[]): { long: Graph; chains: Chain[] } {
  const long: Graph = { parents: parents.map(() => []), children: children.map(() => []) };
  const chains: Chain[] = [];
  const join = (from: number, to: number) => {
    long.children[from]?.push(to);
    long.parents[to]?.push(from);
  };
  for (const [from, targets] of children.entries()) {
    for (const to of targets) {
      const via: number[] = [];
      for (let layer = (layers[from] ?? 0) + 1; layer < (layers[to] ?? 0); layer++) {
        via.push(layers.push(layer) - 1);
        long.parents.push([]);
        long.children.push([]);
      }
      for (const [at, v] of via.entries()) join(via[at - 1] ?? from, v);
      join(via.at(-1) ?? from, to);
      chains.push({ from, to, via });
    }
  }
  return { long, chains };
}

// A run's graph as it is drawn: boxes with their places and their jobs. Made anew only when there are other jobs, or a
// group is opened; what jobs do changes nothing of it.
import type { JobCell } from '../live/run-model.ts';
import { faceOfJob, type Tone } from '../parts/face.ts';
import { type Box, boxesOf, commonName } from './group.ts';
import { type Graph, graphOf } from './layers.ts';
import { type Edge, layOut, NODE_HEIGHT, NODE_WIDTH } from './layout.ts';
import type { Rect, Size } from './viewport.ts';

export interface Drawn extends Size {
  boxes: readonly DrawnBox[];
  edges: readonly DrawnEdge[];
  graph: Graph;
  /** The box that a job is in. */
  at: ReadonlyMap<string, number>;
}

export interface DrawnBox extends Box {
  rect: Rect;
  cells: readonly JobCell[];
  label: string;
}

export interface DrawnEdge extends Edge {
  /** As an SVG path. */
  line: string;
  rect: Rect;
}

export function draw(cells: readonly JobCell[], opened: ReadonlySet<string>): Drawn {
  const jobs = cells.map((cell) => cell.peek());
  const byId = new Map(jobs.map((job, index) => [job.job_id, cells[index]]));
  const boxes = boxesOf(jobs, opened);
  const { places, edges, width, height } = layOut(boxes);
  return {
    width,
    height,
    graph: graphOf(boxes),
    at: new Map(boxes.flatMap((box, index) => box.jobs.map((job) => [job, index] as const))),
    boxes: boxes.map((box, index) => {
      const own = box.jobs.flatMap((job) => byId.get(job) ?? []);
      const { x = 0, y = 0 } = places[index] ?? {};
      const rect = { x, y, width: NODE_WIDTH, height: NODE_HEIGHT };
      return { ...box, rect, cells: own, label: labelOf(own) };
    }),
    edges: edges.map((edge) => ({ ...edge, line: lineOf(edge), rect: boundsOf(edge) })),
  };
}

function labelOf(cells: readonly JobCell[]): string {
  const names = cells.map((cell) => cell.peek().name);
  if (names.length === 1) return names[0] ?? '';
  return `${commonName(names) || 'alike jobs'} × ${names.length.toLocaleString()}`;
}

/** Straight where it passes a column, and curved between two. */
function lineOf({ points: [start, ...points] }: Edge): string {
  if (!start) return '';
  let { x, y } = start;
  let line = `M${x} ${y}`;
  for (const [index, to] of points.entries()) {
    const half = (x + to.x) / 2;
    line += index % 2 === 1 ? `H${to.x}` : `C${half} ${y} ${half} ${to.y} ${to.x} ${to.y}`;
    ({ x, y } = to);
  }
  return line;
}

function boundsOf({ points }: Edge): Rect {
  const ys = points.map(({ y }) => y);
  const [left, right] = [points[0]?.x ?? 0, points.at(-1)?.x ?? 0];
  const top = Math.min(...ys);
  return { x: left, y: top, width: right - left, height: Math.max(...ys) - top };
}

/** The tone that matters most of those in a box. */
const RANK: readonly Tone[] = ['bad', 'warn', 'run', 'wait', 'idle', 'good'];

/** Of a box as it is now; whoever asks is told of changes. */
export function toneOf({ cells }: DrawnBox): Tone {
  const tones = new Set(cells.map((cell) => faceOfJob(cell.value).tone));
  return RANK.find((tone) => tones.has(tone)) ?? 'idle';
}

/** All that a box depends on and all that depends on it, and itself. */
export function kinOf({ parents, children }: Graph, box: number): ReadonlySet<number> {
  const kin = new Set([box]);
  for (const next of [parents, children]) {
    const stack = [box];
    for (let v = stack.pop(); v !== undefined; v = stack.pop()) {
      for (const one of next[v] ?? []) {
        if (kin.has(one)) continue;
        kin.add(one);
        stack.push(one);
      }
    }
  }
  return kin;
}

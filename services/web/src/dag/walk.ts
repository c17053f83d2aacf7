// Where an arrow key leads in a graph. Pure.
import type { Drawn } from './drawn.ts';

/** The nearest parent, child, or box above or below; null where there is none, and for other keys. */
export function neighbourOf({ boxes, graph }: Drawn, box: number, key: string): number | null {
  const from = boxes[box]?.rect;
  if (!from) return null;
  const away = (one: number) => Math.abs((boxes[one]?.rect.y ?? 0) - from.y);
  const nearest = (of: readonly number[]) => of.toSorted((a, b) => away(a) - away(b))[0] ?? null;
  if (key === 'ArrowLeft') return nearest(graph.parents[box] ?? []);
  if (key === 'ArrowRight') return nearest(graph.children[box] ?? []);
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return null;
  const isBeyond = (y: number) => (key === 'ArrowUp' ? y < from.y : y > from.y);
  const column = boxes.flatMap(({ rect }, one) => (rect.x === from.x && isBeyond(rect.y) ? [one] : []));
  return nearest(column);
}

// What part of a graph is seen, and how large: a point of the graph at x is seen at `x * zoom + view.x`. Pure.
import type { Point } from './layout.ts';

export interface View extends Point {
  zoom: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Rect extends Point, Size {}

const LEAST_ZOOM = 0.25;
const MOST_ZOOM = 4;
/** Around what is fitted; pixels. */
const MARGIN = 24;

/** How much a length may be enlarged to fill another, but for the margins. */
function roomFor(own: number, all: number): number {
  return Math.max(1, all - 2 * MARGIN) / Math.max(1, own);
}

/** The whole graph in the middle, not enlarged; nothing of it is outside, however large it is. */
export function fitted(graph: Size, seen: Size): View {
  const zoom = Math.min(1, roomFor(graph.width, seen.width), roomFor(graph.height, seen.height));
  return {
    zoom,
    x: (seen.width - graph.width * zoom) / 2,
    y: (seen.height - graph.height * zoom) / 2,
  };
}

/** Zoomed by a factor about a point that stays where it is seen. No smaller than the whole graph, or a quarter. */
export function zoomed(view: View, factor: number, about: Point, graph: Size, seen: Size): View {
  const least = Math.min(LEAST_ZOOM, fitted(graph, seen).zoom);
  const zoom = Math.min(MOST_ZOOM, Math.max(least, view.zoom * factor));
  const scale = zoom / view.zoom;
  return { zoom, x: about.x - (about.x - view.x) * scale, y: about.y - (about.y - view.y) * scale };
}

/** The part of the graph that is seen, and as much again as `spare` pixels on each side. */
export function seenPart({ x, y, zoom }: View, { width, height }: Size, spare = 0): Rect {
  return {
    x: (0 - spare - x) / zoom,
    y: (0 - spare - y) / zoom,
    width: (width + 2 * spare) / zoom,
    height: (height + 2 * spare) / zoom,
  };
}

export function touches(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** By how much what begins at `from` is moved to be whole within `all`. */
function shift(from: number, length: number, all: number): number {
  return from < MARGIN ? MARGIN - from : Math.min(0, all - MARGIN - from - length);
}

/** Moved no more than it takes to see the whole of `rect`; where it is seen the view stays as it is. */
export function revealing(view: View, rect: Rect, seen: Size): View {
  const { zoom } = view;
  const x = shift(rect.x * zoom + view.x, rect.width * zoom, seen.width);
  const y = shift(rect.y * zoom + view.y, rect.height * zoom, seen.height);
  return x === 0 && y === 0 ? view : { zoom, x: view.x + x, y: view.y + y };
}

/** With `rect` in the middle, at a zoom at which it is read. */
export function centred(view: View, rect: Rect, seen: Size, least: number): View {
  const zoom = Math.max(view.zoom, least);
  return {
    zoom,
    x: seen.width / 2 - (rect.x + rect.width / 2) * zoom,
    y: seen.height / 2 - (rect.y + rect.height / 2) * zoom,
  };
}

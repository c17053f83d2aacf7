import { expect, test } from 'vitest';
import { centred, fitted, revealing, seenPart, touches, type View, zoomed } from './viewport.ts';

const SEEN = { width: 800, height: 400 };
const SMALL = { width: 200, height: 100 };
const HUGE = { width: 100_000, height: 50_000 };
const at = ({ x, y, zoom }: View, px: number, py: number) => ({ x: (px - x) / zoom, y: (py - y) / zoom });

test('a small graph is in the middle as it is, a huge one is seen whole', () => {
  expect(fitted(SMALL, SEEN)).toEqual({ zoom: 1, x: 300, y: 150 });
  const { x, y, zoom } = fitted(HUGE, SEEN);
  expect(x).toBeGreaterThanOrEqual(0);
  expect(x + HUGE.width * zoom).toBeLessThanOrEqual(SEEN.width);
  expect(y).toBeGreaterThanOrEqual(0);
  expect(y + HUGE.height * zoom).toBeLessThanOrEqual(SEEN.height);
});

test('zooming keeps the point under the pointer, between a quarter and four', () => {
  const view = { x: -50, y: 20, zoom: 1 };
  const pointer = { x: 300, y: 100 };
  const closer = zoomed(view, 1.5, pointer, SMALL, SEEN);
  expect(closer.zoom).toBe(1.5);
  expect(at(closer, pointer.x, pointer.y).x).toBeCloseTo(at(view, pointer.x, pointer.y).x);
  expect(at(closer, pointer.x, pointer.y).y).toBeCloseTo(at(view, pointer.x, pointer.y).y);
  expect(zoomed(view, 1_000, pointer, SMALL, SEEN).zoom).toBe(4);
  expect(zoomed(view, 0.001, pointer, SMALL, SEEN).zoom).toBe(0.25);
  expect(zoomed(view, 0.000_01, pointer, HUGE, SEEN).zoom).toBe(fitted(HUGE, SEEN).zoom);
});

test('what is in view', () => {
  const part = seenPart({ x: 0, y: 0, zoom: 0.5 }, SEEN);
  expect(part).toEqual({ x: 0, y: 0, width: 1_600, height: 800 });
  expect(touches(part, { x: 1_590, y: 790, width: 200, height: 40 })).toBe(true);
  expect(touches(part, { x: 1_600, y: 0, width: 200, height: 40 })).toBe(false);
});

test('what is out of view is brought in, what is in view moves nothing', () => {
  const view = { x: 0, y: 0, zoom: 1 };
  expect(revealing(view, { x: 100, y: 100, width: 200, height: 40 }, SEEN)).toBe(view);
  expect(revealing(view, { x: 1_000, y: -300, width: 200, height: 40 }, SEEN)).toEqual({
    zoom: 1,
    x: -424,
    y: 324,
  });
  const middle = centred({ ...view, zoom: 0.1 }, { x: 1_000, y: 500, width: 200, height: 40 }, SEEN, 0.5);
  expect(middle).toEqual({ zoom: 0.5, x: -150, y: -60 });
});

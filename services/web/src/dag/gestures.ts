// Pan by dragging, zoom by wheel or by two fingers: what pointers do to a view.
import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Point } from './layout.ts';
import type { View } from './viewport.ts';

/** Pixels that a pointer moves before it is a drag and no click. */
const DRAG_FROM = 4;
/** Wheel travel for a factor of e. */
const WHEEL = 500;

type Zoom = (factor: number, about: Point) => void;

/**
 * Handlers for the element that shows `view`; `zoom` is asked with points of the element. The wheel is listened to here:
 * Preact's own listeners may not keep the page from scrolling.
 */
export function useGestures(frame: RefObject<HTMLElement | null>, view: Signal<View>, zoom: Zoom) {
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    function wheel(event: WheelEvent): void {
      if (!element) return;
      event.preventDefault();
      const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
      zoom(Math.exp(-pixels / WHEEL), within(event, element));
    }
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, []);
  const pointers = useRef(new Map<number, Point>());
  const travelled = useRef(0);

  function move(id: number, to: Point, element: Element): void {
    const from = pointers.current.get(id);
    if (!from) return;
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    travelled.current += Math.abs(dx) + Math.abs(dy);
    if (travelled.current < DRAG_FROM) return;
    // From then on the pointer is ours, also beyond the element.
    if (!element.hasPointerCapture(id)) element.setPointerCapture(id);
    const other = [...pointers.current].find(([one]) => one !== id)?.[1];
    pointers.current.set(id, to);
    if (other) zoom(distance(to, other) / Math.max(1, distance(from, other)), other);
    else view.value = { ...view.peek(), x: view.peek().x + dx, y: view.peek().y + dy };
  }

  return {
    onPointerDown(event: PointerEvent & { currentTarget: Element }) {
      if (event.button !== 0) return;
      if (pointers.current.size === 0) travelled.current = 0;
      pointers.current.set(event.pointerId, within(event, event.currentTarget));
    },
    onPointerMove(event: PointerEvent & { currentTarget: Element }) {
      move(event.pointerId, within(event, event.currentTarget), event.currentTarget);
    },
    onPointerUp(event: PointerEvent) {
      pointers.current.delete(event.pointerId);
    },
    onPointerCancel(event: PointerEvent) {
      pointers.current.delete(event.pointerId);
    },
    onPointerLeave(event: PointerEvent & { currentTarget: Element }) {
      if (!event.currentTarget.hasPointerCapture(event.pointerId)) pointers.current.delete(event.pointerId);
    },
    /** A drag that ends on a link follows it no more than one that ends beside it. */
    onClickCapture(event: MouseEvent) {
      if (travelled.current < DRAG_FROM) return;
      event.preventDefault();
      event.stopPropagation();
    },
  };
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Where the pointer is in the element. */
function within(event: MouseEvent, element: Element): Point {
  const { left, top } = element.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}

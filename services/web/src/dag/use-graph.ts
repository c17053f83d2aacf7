// What a graph shows at the moment: its boxes, the view, what is pointed at, and what is searched.
import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { JobCell } from '../live/run-model.ts';
import { route } from '../router.ts';
import { draw, type DrawnBox, kinOf } from './drawn.ts';
import type { Point } from './layout.ts';
import { centred, fitted, revealing, seenPart, type Size, touches, type View, zoomed } from './viewport.ts';

/** Below this no word can be read. */
const FAR = 0.4;
/** A graph that would be smaller than this when seen whole is entered at its chosen job; of few boxes, if they could not be read. */
const LEAST_WHOLE = 0.08;
const FEW = 100;
/** At which names are read well. */
const READABLE = 0.75;
/** Pixels that the view moves before other boxes are looked for. */
const STEP = 160;

export type GraphState = ReturnType<typeof useGraph>;

export function useGraph(
  frame: RefObject<HTMLElement | null>,
  jobs: ReadonlySignal<readonly JobCell[]>,
  selected: ReadonlySignal<string | null>,
) {
  const opened = useSignal<ReadonlySet<string>>(new Set());
  const drawn = useComputed(() => draw(jobs.value, opened.value));
  const size = useSignal<Size>({ width: 0, height: 0 });
  const view = useSignal<View>({ x: 0, y: 0, zoom: 1 });
  const pointed = useSignal<number | null>(null);
  const wanted = useSignal('');
  const isPlaced = useRef(false);

  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => {
      size.value = { width: element.clientWidth, height: element.clientHeight };
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const boxOf = (job: string | null) => drawn.peek().boxes[drawn.peek().at.get(job ?? '') ?? -1];
  const fit = () => (view.value = fitted(drawn.peek(), size.peek()));
  const go = (box: DrawnBox) => (view.value = centred(view.peek(), box.rect, size.peek(), READABLE));

  useSignalEffect(() => {
    const { boxes } = drawn.value;
    const chosen = boxOf(selected.value);
    if (size.value.width === 0 || boxes.length === 0) return;
    if (isPlaced.current) {
      // What the page chooses by itself, as jobs begin and end, moves nothing.
      if (chosen && route.peek().params.job === selected.peek())
        view.value = revealing(view.peek(), chosen.rect, size.peek());
      return;
    }
    isPlaced.current = true;
    const first = chosen ?? boxes[0];
    if (first && fit().zoom < (boxes.length <= FEW ? FAR : LEAST_WHOLE)) go(first);
  });

  const isFar = useComputed(() => view.value.zoom < FAR);
  const tile = useComputed(() => {
    const { x, y, zoom } = view.value;
    return `${Math.round(x / STEP)} ${Math.round(y / STEP)} ${zoom}`;
  });
  const seen = useComputed(() => {
    void tile.value;
    const part = seenPart(view.peek(), size.value, STEP);
    const isSeen = ({ rect }: { rect: DrawnBox['rect'] }) => touches(part, rect);
    return {
      boxes: isFar.value
        ? []
        : drawn.value.boxes.flatMap((box, index) => (isSeen(box) ? [{ box, index }] : [])),
      lines: (isFar.value ? drawn.value.edges : drawn.value.edges.filter(isSeen))
        .map(({ line }) => line)
        .join(''),
    };
  });
  const found = useComputed(() => {
    const text = wanted.value.trim().toLowerCase();
    if (text === '') return null;
    const matches = (box: DrawnBox) =>
      box.cells.some((cell) => `${cell.peek().job_id}\n${cell.peek().name}`.toLowerCase().includes(text));
    return drawn.value.boxes.flatMap((box, index) => (matches(box) ? [index] : []));
  });
  /** What stands out; null: all alike. */
  const lit = useComputed<ReadonlySet<number> | null>(() => {
    if (pointed.value !== null) return kinOf(drawn.value.graph, pointed.value);
    return found.value && new Set(found.value);
  });
  const litLines = useComputed(() => {
    const kin = pointed.value === null ? null : lit.value;
    return drawn.value.edges
      .flatMap(({ from, to, line }) => (kin?.has(from) && kin.has(to) ? line : []))
      .join('');
  });

  return {
    drawn,
    size,
    view,
    isFar,
    seen,
    pointed,
    wanted,
    found,
    lit,
    litLines,
    fit,
    go,
    zoom: (factor: number, about: Point = { x: size.peek().width / 2, y: size.peek().height / 2 }) => {
      view.value = zoomed(view.peek(), factor, about, drawn.peek(), size.peek());
    },
    /** Where the pointer is. */
    boxUnder(event: MouseEvent): DrawnBox | undefined {
      const { left = 0, top = 0 } = frame.current?.getBoundingClientRect() ?? {};
      const { x, y, zoom } = view.peek();
      const point = {
        x: (event.clientX - left - x) / zoom,
        y: (event.clientY - top - y) / zoom,
        width: 0,
        height: 0,
      };
      return drawn.peek().boxes.find(({ rect }) => touches(rect, point));
    },
    /** Brings a box into view. */
    reveal(box: DrawnBox) {
      view.value = revealing(view.peek(), box.rect, size.peek());
    },
    /** Shows each job of a group, the first of them where the group was. */
    open({ id, rect, jobs: own }: DrawnBox) {
      opened.value = new Set([...opened.peek(), id]);
      const first = boxOf(own[0] ?? null);
      if (!first) return;
      const { x, y, zoom } = view.peek();
      view.value = { zoom, x: x + (rect.x - first.rect.x) * zoom, y: y + (rect.y - first.rect.y) * zoom };
    },
    /** Folds those that can be, when any is open. */
    close: () => (opened.value = new Set()),
    hasOpen: useComputed(() => opened.value.size > 0),
  };
}

// The rows of a log in a scrolling region: only those in view are in the page, and the end is followed while it is in view.
import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useViewport } from '../parts/use-viewport.ts';
import { windowAt } from '../parts/window.ts';
import { LogRow, SHOWN } from './row.tsx';
import type { LogStore } from './store.ts';

/** Height of a row in pixels; the style sheet's --row says the same. */
const ROW = 20;

interface Props {
  label: string;
  store: LogStore;
  version: Signal<number>;
  /** Whether the end is followed; turned off by scrolling up, on by reaching the end. */
  following: Signal<boolean>;
  /** Called when the reader scrolls to a place that is not the end. */
  onRead: () => void;
}

export function LogList({ label, store, version, following, onRead }: Props) {
  const region = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const viewport = useViewport(region);
  /** Where the last scroll event left us: growth of the log must not be taken for scrolling up. */
  const lastTop = useRef(0);
  /** Lines there were when the reader left the end; null if they never saw it. */
  const leftAt = useRef<number | null>(null);

  useLayoutEffect(() => {
    const element = region.current;
    if (element && following.value) element.scrollTop = element.scrollHeight;
  });

  function onScroll(): void {
    const element = region.current;
    if (!element) return;
    const below = element.scrollHeight - element.clientHeight - element.scrollTop;
    if (below <= ROW) following.value = true;
    else if (element.scrollTop < lastTop.current) following.value = false;
    lastTop.current = element.scrollTop;
    scrollTop.value = element.scrollTop;
    if (!following.value) onRead();
  }

  void version.value;
  if (following.value) leftAt.current = store.count();
  const rows = store.lines.length;
  const width = Math.min(store.longest(), SHOWN);
  const seen = windowAt(rows, ROW, viewport.value, following.value ? Infinity : scrollTop.value);
  const more = !following.value && seen.height > scrollTop.value + viewport.value + ROW;
  return (
    <>
      <div class="log-region" role="region" aria-label={label} tabIndex={0} ref={region} onScroll={onScroll}>
        <div
          class="log-rows"
          style={{ height: `${seen.height}px`, minWidth: `max(100%, ${width}ch + 2 * var(--gutter))` }}
        >
          <div style={{ transform: `translateY(${seen.offset}px)` }}>
            {store.lines.slice(seen.first, seen.end).map((line, i) => (
              <LogRow key={seen.first + i} line={line} />
            ))}
          </div>
        </div>
      </div>
      {more && (
        <button type="button" class="button more-below" onClick={() => (following.value = true)}>
          ↓ {moreText(store.count() - (leftAt.current ?? store.count()))}
        </button>
      )}
    </>
  );
}

function moreText(lines: number): string {
  if (lines === 0) return 'To the end';
  return `${lines.toLocaleString()} new ${lines === 1 ? 'line' : 'lines'}`;
}

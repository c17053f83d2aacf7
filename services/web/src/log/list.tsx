// The rows of a log in a scrolling region: only those in view are in the page, and the end is followed while it is in view.
import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useViewport } from '../parts/use-viewport.ts';
import { scrollTopOf, windowAt } from '../parts/window.ts';
import type { Range } from './range.ts';
import { LogRow, SHOWN } from './row.tsx';
import type { Search } from './use-search.ts';
import type { Line, LogStore } from './store.ts';
import { timeMark } from './time-mark.ts';
import { useColumns } from './use-columns.ts';
import type { View } from './use-view.ts';

/** Height of a row in pixels; the style sheet's --row says the same. */
const ROW = 20;

interface Props {
  label: string;
  store: LogStore;
  version: ReadonlySignal<number>;
  view: View;
  search: Search;
  range: Range | null;
  /** Whose lines the range names; null: of any. */
  rangeAttempt: number | null;
  /** Whether the end is followed; turned off by scrolling up, on by reaching the end. */
  following: Signal<boolean>;
  /** Called when the reader scrolls to a place that is not the end. */
  onRead: () => void;
  /** Called with a line that is pointed at; `isMore`: up to it. */
  onPoint: (line: Line, isMore: boolean) => void;
}

export function LogList(props: Props) {
  const { label, store, version, view, search, range, rangeAttempt, following, onRead, onPoint } = props;
  const region = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const viewport = useViewport(region);
  /** Where the last scroll event left us: growth of the log must not be taken for scrolling up. */
  const lastTop = useRef(0);
  /** Lines there were when the reader left the end; null if they never saw it. */
  const leftAt = useRef<number | null>(null);
  useColumns(region, view.columns, view.times);

  void version.value;
  const heights = view.heights.value;
  const isWrapped = view.wrap.value === 'yes';

  useLayoutEffect(() => {
    const element = region.current;
    if (!element || viewport.value === 0) return;
    const line = view.target.peek();
    if (line !== null) {
      view.target.value = null;
      following.value = false;
      const at = rowOf(view, line);
      const top = scrollTopOf(heights.total, ROW, viewport.value, heights.above(at));
      lastTop.current = element.scrollTop = top;
      scrollTop.value = element.scrollTop;
    } else if (following.value) element.scrollTop = element.scrollHeight;
  });
  void view.target.value;

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

  /** What is opened stays where it is, rather than its end coming into view. */
  function fold(begin: number, isFolded: boolean): void {
    following.value = false;
    view.fold(begin, isFolded);
  }

  function onClick(event: MouseEvent): void {
    const number = event.target instanceof HTMLElement ? event.target.closest('a.log-number') : null;
    if (!(number instanceof HTMLElement)) return;
    event.preventDefault();
    const line = store.lines.find(
      (one) => `${one.number}` === number.dataset.number && `${one.attempt}` === number.dataset.attempt,
    );
    if (line) onPoint(line, event.shiftKey);
  }

  if (following.value) leftAt.current = store.count();
  const width = Math.min(store.longest(), SHOWN);
  const seen = windowAt(heights.total, ROW, viewport.value, following.value ? Infinity : scrollTop.value);
  const first = heights.at(seen.first);
  const offset = seen.offset - (seen.first - heights.above(first)) * ROW;
  const count = view.shown.value?.length ?? store.lines.length;
  const end = Math.min(count, heights.at(Math.max(0, seen.end - 1)) + 1);
  const more = !following.value && seen.height > scrollTop.value + viewport.value + ROW;
  const times = view.times.value;
  const foundLine = search.found.value[search.at.value];
  const rows = Array.from({ length: Math.max(0, end - first) }, (_, row) => {
    const index = view.lineAt(first + row);
    const line = store.lines[index];
    return line ? { index, line, rows: heights.above(first + row + 1) - heights.above(first + row) } : null;
  });
  return (
    <>
      <div
        class="log-region"
        role="region"
        aria-label={label}
        tabIndex={0}
        ref={region}
        data-times={times === 'off' ? undefined : ''}
        data-wrap={isWrapped ? '' : undefined}
        onScroll={onScroll}
        onClick={onClick}
      >
        <div
          class="log-rows"
          style={{
            height: `${seen.height}px`,
            minWidth: isWrapped ? '0' : `max(100%, ${width}ch + 2 * var(--gutter))`,
          }}
        >
          <div style={{ transform: `translateY(${offset}px)` }}>
            {rows.map(
              (row) =>
                row && (
                  <LogRow
                    key={row.index}
                    line={row.line}
                    height={row.rows * ROW}
                    time={times === 'off' ? null : timeOf(store, times, row.index, row.line)}
                    isPointed={isIn(row.line, range, rangeAttempt)}
                    isFound={row.index === foundLine}
                    matcher={search.matcher.value}
                    group={view.groups.value.get(row.index)}
                    onFold={fold}
                  />
                ),
            )}
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

/** The row among those shown that a line has, or would have. */
function rowOf(view: View, line: number): number {
  const shown = view.shown.peek();
  if (shown === null) return line;
  const row = shown.findIndex((one) => one >= line);
  return row < 0 ? shown.length - 1 : row;
}

function isIn({ number, attempt }: Line, range: Range | null, of: number | null): boolean {
  return range !== null && number >= range.first && number <= range.last && (of === null || of === attempt);
}

function timeOf(store: LogStore, times: View['times']['value'], index: number, line: Line): string {
  const before = store.lines[index - 1];
  return timeMark(
    times,
    line.at,
    store.startOf(line.attempt),
    before && before.number > 0 ? before.at : line.at,
  );
}

function moreText(lines: number): string {
  if (lines === 0) return 'To the end';
  return `${lines.toLocaleString()} new ${lines === 1 ? 'line' : 'lines'}`;
}

// When the jobs of a run waited and ran, one under the other, with the path that made the run as long as it is.
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import type { RunSummary } from '@wfg/shared/contract/run';
import { useRef } from 'preact/hooks';
import { now } from '../clock.ts';
import type { JobCell } from '../live/run-model.ts';
import { useViewport } from '../parts/use-viewport.ts';
import { windowAt } from '../parts/window.ts';
import { durationText } from '../time-text.ts';
import { TimeRow } from './row.tsx';
import { marksOf } from './scale.ts';
import { criticalPath, readyTimes } from './spans.ts';

/** Height of a row in pixels; the style sheet's --time-row says the same. */
const ROW = 30;
const MOST_MARKS = 7;
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

interface Props {
  run: RunSummary;
  jobs: ReadonlySignal<readonly JobCell[]>;
  selected: ReadonlySignal<string | null>;
}

export function Timeline({ run, jobs, selected }: Props) {
  const region = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const viewport = useViewport(region);
  const isClock = useSignal(false);
  const begin = Date.parse(run.created_at);

  const known = useComputed(() => {
    const rows = jobs.value.map((cell) => cell.value);
    const ready = readyTimes(rows, begin);
    const order = (cell: JobCell) => ready.get(cell.peek().job_id) ?? Number.POSITIVE_INFINITY;
    const started = (cell: JobCell) => Date.parse(cell.peek().started_at ?? '') || Number.POSITIVE_INFINITY;
    const cells = jobs.value.toSorted((a, b) => order(a) - order(b) || started(a) - started(b));
    return { cells, ready, critical: criticalPath(rows) };
  });
  const { cells, ready, critical } = known.value;
  const end = run.finished_at === null ? now.value : Date.parse(run.finished_at);
  const length = Math.max(1, end - begin);
  const seen = windowAt(cells.length, ROW, viewport.value, scrollTop.value);

  return (
    <section class="timeline" aria-label="Timeline of the jobs">
      <div class="time-head">
        <span class="time-key">
          <i class="bar-wait" /> waited <i class="bar-run" /> ran <i class="bar-critical" /> on the critical
          path
        </span>
        <button
          type="button"
          class="button small"
          aria-pressed={isClock.value}
          onClick={() => (isClock.value = !isClock.value)}
        >
          Clock
        </button>
      </div>
      <div
        class="time-region"
        ref={region}
        tabIndex={0}
        role="group"
        aria-label="Jobs by time"
        onScroll={(event) => (scrollTop.value = event.currentTarget.scrollTop)}
      >
        <div class="time-axis" aria-hidden="true">
          {marksOf(length, MOST_MARKS).map((mark) => (
            <span key={mark} style={{ left: `${(mark / length) * 100}%` }}>
              {isClock.value
                ? CLOCK.format(begin + mark)
                : durationText(mark, mark >= 10_000 || mark % 1_000 === 0)}
            </span>
          ))}
        </div>
        <div class="time-rows" style={{ height: `${seen.height}px`, paddingTop: `${seen.offset}px` }}>
          {cells.slice(seen.first, seen.end).map((cell) => {
            const id = cell.peek().job_id;
            return (
              <TimeRow
                key={id}
                run={run.run_id}
                cell={cell}
                ready={ready.get(id) ?? null}
                begin={begin}
                length={length}
                isCritical={critical.has(id)}
                isChosen={selected.value === id}
              />
            );
          })}
        </div>
      </div>
    </section>
  );
}

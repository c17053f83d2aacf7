// The jobs of a run in a scrolling region: as many rows as are in view, each following its own job.
import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { JobCell } from '../live/run-model.ts';
import { JobRow } from './job-row.tsx';
import { useViewport } from './use-viewport.ts';
import { windowAt } from './window.ts';

/** Height of a row in pixels; the style sheet's --job-row says the same. */
const ROW = 50;

interface Props {
  run: string;
  jobs: ReadonlySignal<readonly JobCell[]>;
  selected: ReadonlySignal<string | null>;
}

export function JobTable({ run, jobs, selected }: Props) {
  const region = useRef<HTMLElement>(null);
  const scrollTop = useSignal(0);
  const viewport = useViewport(region);

  // A job chosen by the page or by the address is brought into view.
  useSignalEffect(() => {
    const top = jobs.value.findIndex((cell) => cell.peek().job_id === selected.value) * ROW;
    const height = viewport.value;
    const element = region.current;
    if (!element || height === 0 || top < 0) return;
    if (top < element.scrollTop || top + ROW > element.scrollTop + height)
      element.scrollTop = top - height / 2;
  });

  const list = jobs.value;
  const seen = windowAt(list.length, ROW, viewport.value, scrollTop.value);
  const below = seen.height - seen.offset - (seen.end - seen.first) * ROW;
  return (
    <section
      class="job-pane"
      aria-label="Jobs"
      tabIndex={0}
      ref={region}
      onScroll={(event) => (scrollTop.value = event.currentTarget.scrollTop)}
    >
      <table class="table job-table" aria-rowcount={list.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Job</th>
            <th scope="col" class="job-status">
              Status
            </th>
            <th scope="col" class="job-try figure">
              Try
            </th>
            <th scope="col" class="job-time figure">
              Time
            </th>
            <th scope="col" class="job-worker">
              Worker
            </th>
          </tr>
        </thead>
        <tbody>
          <Space height={seen.offset} />
          {list.slice(seen.first, seen.end).map((cell, i) => (
            <JobRow
              key={cell.peek().job_id}
              index={seen.first + i + 2}
              run={run}
              cell={cell}
              selected={selected}
            />
          ))}
          <Space height={below} />
        </tbody>
      </table>
    </section>
  );
}

/** Stands for the rows out of view. */
function Space({ height }: { height: number }) {
  return height > 0 ? <tr class="space" style={{ height: `${height}px` }} aria-hidden="true" /> : null;
}

// The log of the selected job with what is known about the job above it.
import { useComputed, useSignal } from '@preact/signals';
import type { Job } from '@wfg/shared/contract/job';
import { useEffect, useRef } from 'preact/hooks';
import { useKeys } from '../keys.ts';
import type { JobCell } from '../live/run-model.ts';
import { Notice } from '../parts/notice.tsx';
import { hash, navigate, query } from '../router.ts';
import { Attempts, chosenAttempt } from './attempts.tsx';
import { textOf } from './copy.ts';
import { FindBar } from './find-bar.tsx';
import { firstError } from './first-error.ts';
import { JobHead } from './job-head.tsx';
import { LogList } from './list.tsx';
import { extended, hashOf, rangeOf } from './range.ts';
import type { Line } from './store.ts';
import { LogTools } from './tools.tsx';
import { type LogEnd, type LogView, useLog } from './use-log.ts';
import { useSearch } from './use-search.ts';
import { TIMES, useView } from './use-view.ts';

interface Props {
  run: string;
  cell: JobCell;
  /** Called when the reader scrolls to a place of the log. */
  onRead: () => void;
}

export function LogPane({ run, cell, onRead }: Props) {
  const job = cell.value;
  const attempt = chosenAttempt();
  const log = useLog(run, job.job_id, attempt);
  const { store, version } = log;
  const range = rangeOf(hash.value);
  // A log that is complete and went well is read from its beginning, one that is pointed into there; all others are about
  // their end.
  const following = useSignal(job.state !== 'completed' && range === null);
  const isSearching = useSignal(false);
  const hasFailed = useComputed(() => cell.value.state === 'failed');
  const view = useView(store, version, hasFailed);
  const search = useSearch(store, version, view.reveal);
  usePointed(range?.first ?? null, attempt, log, view.reveal);

  const path = `/api/runs/${encodeURIComponent(run)}/jobs/${encodeURIComponent(job.job_id)}/logs/raw`;
  const goToError = () => {
    const line = firstError(store.lines);
    if (line !== null) view.reveal(line);
  };
  const step = (by: 1 | -1) => (isSearching.peek() ? search.go(by) : (isSearching.value = true));
  useKeys('Log', [
    { key: 'f', does: 'Follow the end', press: () => (following.value = true) },
    { key: 'g', does: 'To the first line', press: () => view.reveal(0) },
    { key: 'G', does: 'To the last line', press: () => (following.value = true) },
    { key: '.', does: 'To the first error', press: goToError },
    { key: 'n', does: 'Next match', press: () => step(1) },
    { key: 'N', does: 'Previous match', press: () => step(-1) },
    {
      key: 't',
      does: 'Times: none, since the start, since the line before, clock',
      press: () => (view.times.value = TIMES[(TIMES.indexOf(view.times.peek()) + 1) % TIMES.length] ?? 'off'),
    },
    {
      key: 'w',
      does: 'Wrap long lines',
      press: () => (view.wrap.value = view.wrap.peek() === 'yes' ? 'no' : 'yes'),
    },
    {
      key: 'e',
      does: 'Only what came from stderr',
      press: () => (view.errorsOnly.value = !view.errorsOnly.peek()),
    },
  ]);

  function point(line: Line, isMore: boolean): void {
    const next = isMore ? extended(range, line.number) : { first: line.number, last: line.number };
    const asked = new URLSearchParams(query.peek());
    if (line.attempt > 0 || asked.has('attempt')) asked.set('attempt', String(line.attempt));
    onRead();
    navigate(`${location.pathname}${asked.size > 0 ? `?${asked}` : ''}${hashOf(next)}`, 'replace');
  }

  return (
    <section
      class="pane log-pane"
      aria-labelledby="log-title"
      onKeyDown={(event) => {
        if (event.key !== 'f' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        isSearching.value = true;
      }}
    >
      <JobHead job={job}>
        <LogTools
          view={view}
          isSearching={isSearching}
          rawUrl={attempt === null ? path : `${path}?attempt=${attempt}`}
          textOf={() => textOf(store.lines, range, attempt)}
          hasRange={range !== null}
          onFirstError={hasFailed.value ? goToError : null}
        />
      </JobHead>
      <Attempts run={run} job={job} />
      {log.problem.value && <Notice>{log.problem.value}</Notice>}
      {isSearching.value && <FindBar search={search} isOpen={isSearching} />}
      <div class="log-frame">
        <LogList
          label={`Log of ${job.name}`}
          store={store}
          version={version}
          view={view}
          search={search}
          range={range}
          rangeAttempt={attempt}
          following={following}
          onRead={onRead}
          onPoint={point}
        />
        <Empty log={log} job={job} />
      </div>
      <footer class="log-foot">
        <LineCount log={log} />
      </footer>
    </section>
  );
}

/** Goes to the line that the address names, once it is there. */
function usePointed(
  number: number | null,
  attempt: number | null,
  { store, version }: LogView,
  reveal: (line: number) => void,
): void {
  const gone = useRef<number | null>(null);
  const seen = version.value;
  useEffect(() => {
    if (number === null || gone.current === number) return;
    const at = store.lines.findLastIndex(
      (line) => line.number === number && (attempt === null || line.attempt === attempt),
    );
    if (at < 0) return;
    gone.current = number;
    reveal(at);
  }, [number, attempt, seen]);
}

function Empty({ log, job }: { log: LogView; job: Job }) {
  void log.version.value;
  if (log.store.lines.length > 0) return null;
  return <p class="log-empty">{emptyText(job, log.end.value)}</p>;
}

/** Why there is nothing to read. */
function emptyText(job: Job, end: LogEnd | null): string {
  if (job.reused_from !== null) return 'Taken over from an earlier run, which has its log.';
  if (job.state === 'blocked') return `Waits for ${job.waiting?.on.join(', ') || job.depends_on.join(', ')}.`;
  if (job.state === 'pending') return job.waiting?.detail ?? 'Waits for a worker.';
  if (job.state === 'skipped') return 'Skipped: it did not run.';
  if (job.state === 'active') return 'No output yet.';
  return end ? 'It ended without output.' : 'Reading the log…';
}

function LineCount({ log }: { log: LogView }) {
  void log.version.value;
  const count = log.store.count();
  const lines = `${count.toLocaleString()} ${count === 1 ? 'line' : 'lines'}`;
  return <>{log.end.value ? `${lines}, complete` : lines}</>;
}

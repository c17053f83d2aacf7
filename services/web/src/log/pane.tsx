// The log of the selected job with what is known about the job above it.
import { useSignal } from '@preact/signals';
import type { Job } from '@wfg/shared/contract/job';
import type { JobCell } from '../live/run-model.ts';
import { faceOfJob } from '../parts/face.ts';
import { Notice } from '../parts/notice.tsx';
import { Status } from '../parts/status.tsx';
import { Elapsed } from '../parts/time.tsx';
import { LogList } from './list.tsx';
import { TerminalLines } from './terminal-text.tsx';
import { type LogEnd, type LogView, useLog } from './use-log.ts';

interface Props {
  run: string;
  cell: JobCell;
  /** Called when the reader scrolls to a place of the log. */
  onRead: () => void;
}

export function LogPane({ run, cell, onRead }: Props) {
  const job = cell.value;
  const log = useLog(run, job.job_id);
  // A log that is complete and went well is read from its beginning; all others are about their end.
  const following = useSignal(job.state !== 'completed');
  return (
    <section class="pane log-pane" aria-labelledby="log-title">
      <header class="log-head">
        <h2 id="log-title">{job.name}</h2>
        <Status face={faceOfJob(job)} />
        <dl class="facts">
          <div>
            <dt>Attempt</dt>
            <dd>{job.attempt}</dd>
          </div>
          <div>
            <dt>Time</dt>
            <dd>
              <Elapsed from={job.started_at} to={job.state === 'active' ? null : job.finished_at} />
            </dd>
          </div>
          {job.worker_id && (
            <div>
              <dt>Worker</dt>
              <dd>{job.worker_id}</dd>
            </div>
          )}
        </dl>
      </header>
      {job.error && job.state !== 'active' && (
        <pre class="job-error">
          <TerminalLines text={job.error} />
        </pre>
      )}
      {log.problem.value && <Notice>{log.problem.value}</Notice>}
      <div class="log-frame">
        <LogList
          label={`Log of ${job.name}`}
          store={log.store}
          version={log.version}
          following={following}
          onRead={onRead}
        />
        <Empty log={log} job={job} />
      </div>
      <footer class="log-foot">
        <LineCount log={log} />
      </footer>
    </section>
  );
}

function Empty({ log, job }: { log: LogView; job: Job }) {
  void log.version.value;
  if (log.store.lines.length > 0) return null;
  return <p class="log-empty">{emptyText(job, log.end.value)}</p>;
}

/** Why there is nothing to read. */
function emptyText(job: Job, end: LogEnd | null): string {
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

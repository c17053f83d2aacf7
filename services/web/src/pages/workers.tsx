// The workers that are known: what each offers, does, and when it was heard of last.
import type { Worker } from '@wfg/shared/contract/worker';
import { useEffect } from 'preact/hooks';
import { now } from '../clock.ts';
import { useListed } from '../live/use-listed.ts';
import type { Face } from '../parts/face.ts';
import { Status } from '../parts/status.tsx';
import { setTitle } from '../parts/title.ts';
import { runPath } from '../router.ts';
import { durationText } from '../time-text.ts';

/** The list is cut by the server. */
const MOST = 1_000;
/** Two beats of ten seconds that did not come. */
const LATE_MS = 25_000;
const MOST_JOBS = 5;

const FACES: Record<Worker['status'], Face> = {
  idle: { icon: 'ring', word: 'Idle', tone: 'idle' },
  busy: { icon: 'arc', word: 'Busy', tone: 'run' },
  draining: { icon: 'stop', word: 'Draining', tone: 'warn' },
  offline: { icon: 'cross', word: 'Offline', tone: 'bad' },
};

export function WorkersPage() {
  useEffect(() => setTitle('Workers'), []);
  const workers = useListed<Worker>('workers', {
    topic: () => ({ topic: 'workers' }),
    all: (frame) => (frame.op === 'snapshot' && 'workers' in frame ? frame.workers : null),
    one: (frame) => (frame.op === 'worker' ? frame.worker : null),
    gone: (frame) => (frame.op === 'gone' && 'worker_id' in frame ? frame.worker_id : null),
    idOf: (worker) => worker.worker_id,
    most: MOST,
  }).value;
  return (
    <>
      <h1>Workers</h1>
      {workers === null && <p class="hint">Reading the workers…</p>}
      {workers?.length === 0 && (
        <p class="hint">
          There is no worker, so nothing runs. <code>npm start</code> brings two; others join with the same{' '}
          <code>DATABASE_URL</code>.
        </p>
      )}
      {workers !== null && workers.length > 0 && <WorkerTable workers={workers} />}
    </>
  );
}

function WorkerTable({ workers }: { workers: readonly Worker[] }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Worker</th>
          <th scope="col">Status</th>
          <th scope="col">Doing</th>
          <th scope="col" class="figure wide-only">
            Places
          </th>
          <th scope="col" class="wide-only">
            Version
          </th>
          <th scope="col" class="figure">
            Heard of
          </th>
        </tr>
      </thead>
      <tbody>
        {workers.map((worker) => (
          <WorkerRow key={worker.worker_id} worker={worker} />
        ))}
      </tbody>
    </table>
  );
}

function WorkerRow({ worker }: { worker: Worker }) {
  const { worker_id, labels, handlers, tasks, status, jobs, concurrency, host, version, problem } = worker;
  const offers = [...labels, ...handlers, ...tasks.map((task) => `task ${task}`)];
  return (
    <tr>
      <th scope="row">
        {worker_id}
        <p class="remark">
          {host}
          {offers.length > 0 && ` · ${offers.join(', ')}`}
        </p>
        {problem && <p class="remark bad">{problem}</p>}
      </th>
      <td>
        <Status face={FACES[status]} />
      </td>
      <td>
        {jobs.slice(0, MOST_JOBS).map(({ run_id, job_id, attempt }) => (
          <div key={`${run_id} ${job_id} ${attempt}`}>
            <a href={runPath(run_id, job_id)}>{job_id === 'main' ? run_id.slice(0, 8) : job_id}</a>
          </div>
        ))}
        {jobs.length > MOST_JOBS && <div class="remark">and {jobs.length - MOST_JOBS} more</div>}
        {jobs.length === 0 && '–'}
      </td>
      <td class="figure wide-only">{concurrency}</td>
      <td class="wide-only">{version}</td>
      <td class="figure">
        <Heard at={worker.last_heartbeat_ms} isOver={status === 'offline'} />
      </td>
    </tr>
  );
}

function Heard({ at, isOver }: { at: number; isOver: boolean }) {
  const ago = now.value - at;
  const isLate = ago > LATE_MS && !isOver;
  return (
    <span class={isLate ? 'late' : undefined}>
      {durationText(ago, true)} ago{isLate && ', late'}
    </span>
  );
}

// One run as the page knows it: a signal for the run and one for each job, so that an event redraws one row.
import { type ReadonlySignal, type Signal, batch, signal } from '@preact/signals';
import type { Job } from '@wfg/shared/contract/job';
import type { RunEvent } from '@wfg/shared/contract/live';
import type { Run, RunSummary } from '@wfg/shared/contract/run';
import type { TopicFrame } from './connection.ts';

export type JobCell = Signal<Job>;

export interface RunModel {
  /** Null until the first snapshot. */
  run: ReadonlySignal<RunSummary | null>;
  /** In the order of the definition. */
  jobs: ReadonlySignal<readonly JobCell[]>;
  /** Why the server refuses to show the run; null when it does not. */
  problem: ReadonlySignal<string | null>;
  job: (id: string) => JobCell | undefined;
  receive: (frame: TopicFrame) => void;
}

/** What is told about each change of state that was seen to happen; a snapshot is no change. */
interface Listener {
  onJob(job: Job): void;
  onRun(run: RunSummary): void;
}

export function createRunModel(listener: Listener): RunModel {
  const run = signal<RunSummary | null>(null);
  const jobs = signal<readonly JobCell[]>([]);
  const problem = signal<string | null>(null);
  const byId = new Map<string, JobCell>();

  function take({ jobs: list, ...summary }: Run): void {
    // Of the same rev it is the same truth; an older one comes from a copy of the server that lags.
    if (run.value !== null && summary.rev < run.value.rev) return;
    run.value = summary;
    const same = list.length === byId.size && list.every((job) => byId.has(job.job_id));
    if (!same) {
      byId.clear();
      for (const job of list) byId.set(job.job_id, signal(job));
      jobs.value = [...byId.values()];
      return;
    }
    for (const job of list) {
      const cell = byId.get(job.job_id);
      if (cell) cell.value = job;
    }
  }

  function apply(event: RunEvent): void {
    const before = run.value;
    if (before === null || event.rev <= before.rev) return;
    if ('job' in event) {
      const cell = byId.get(event.job_id);
      if (cell === undefined) return;
      const old = cell.value;
      cell.value = event.job;
      run.value = afterJob(before, event);
      if (cell.value.state !== old.state || cell.value.cancelling !== old.cancelling)
        listener.onJob(cell.value);
    } else {
      run.value = afterRun(before, event);
    }
    if (run.value.status !== before.status) listener.onRun(run.value);
  }

  return {
    run,
    jobs,
    problem,
    job: (id) => byId.get(id),
    receive(frame) {
      batch(() => {
        if (frame.op === 'snapshot' && 'run' in frame) take(frame.run);
        else if (frame.op === 'event') apply(frame.event);
        problem.value = frame.op === 'error' ? frame.detail : null;
      });
    },
  };
}

type JobEvent = Extract<RunEvent, { job: Job }>;

function afterRun(run: RunSummary, event: Exclude<RunEvent, JobEvent>): RunSummary {
  return event.type === 'run_started'
    ? { ...run, rev: event.rev, status: 'running', started_at: event.at }
    : { ...run, rev: event.rev, status: event.status, finished_at: event.at };
}

/** A cancel of the run shows first in jobs that are being stopped. */
function afterJob(run: RunSummary, { job, rev }: JobEvent): RunSummary {
  const open = run.status === 'pending' || run.status === 'running';
  return { ...run, rev, status: open && job.cancelling ? 'cancelling' : run.status };
}

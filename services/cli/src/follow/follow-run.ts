// Follows a run to its end: every change of it once, and the logs of its jobs, across reconnects.
import type { Job } from '@wfg/shared/contract/job';
import type { RunEvent } from '@wfg/shared/contract/live';
import type { Run, RunStatus } from '@wfg/shared/contract/run';
import { isEnded } from '@wfg/shared/rules/states';
import type { LiveClient } from '../live-client.ts';
import { followLogs } from './follow-logs.ts';
import { isNews, type JobEvent } from './known-job.ts';
import type { RunView } from './run-view.ts';

interface Ending {
  status: RunStatus;
  /** Jobs whose logs may lack their last lines. */
  incomplete: string[];
}

/** Resolves when the run has ended and its logs are shown; rejects as `live.failed` does. */
export async function followRun(live: LiveClient, run: Run, view: RunView): Promise<Ending> {
  const known = new Map<string, Job>();
  /** In order; the first is the end of a job whose log is not shown to its end. */
  const held: JobEvent[] = [];
  const over = Promise.withResolvers<Extract<RunEvent, { type: 'run_finished' }>>();
  let rev = -1;
  const logs = followLogs(live, run.run_id, view, () => show(isShowable));

  takeSnapshot(run);
  const leave = live.subscribe({
    topic: () => ({ topic: 'run', run: run.run_id }),
    receive(frame) {
      if (frame.op === 'snapshot' && 'run' in frame) takeSnapshot(frame.run);
      else if (frame.op === 'event') takeEvent(frame.event);
    },
  });
  const end = await Promise.race([over.promise, live.failed]);
  leave();
  const incomplete = await Promise.race([logs.drained(), live.failed]);
  show(() => true);
  view.event(end);
  return { status: end.status, incomplete };

  /** What happened while nothing was heard is told as `changed`. */
  function takeSnapshot(now: Run): void {
    if (now.rev < rev) return;
    rev = now.rev;
    for (const job of now.jobs) {
      if (isNews(known.get(job.job_id), job)) takeJob(changed(now, job));
      else known.set(job.job_id, job);
    }
    const { status, workflow_id, run_id, finished_at: at } = now;
    if (at !== null) over.resolve({ type: 'run_finished', workflow_id, run_id, at, rev, status });
  }

  function takeEvent(event: RunEvent): void {
    if (event.rev <= rev) return;
    rev = event.rev;
    if ('job' in event) takeJob(event);
    else if (event.type === 'run_finished') over.resolve(event);
    else view.event(event);
  }

  function takeJob(event: JobEvent): void {
    known.set(event.job_id, event.job);
    // What has begun has a log.
    if (event.job.started_at !== null) logs.want(event.job_id, event.attempt);
    held.push(event);
    show(isShowable);
  }

  /** The end of a job is told after the last line of its log. */
  function isShowable(event: JobEvent): boolean {
    return !isEnded(event.job.state) || !logs.isOpen(event.job_id);
  }

  function show(may: (event: JobEvent) => boolean): void {
    for (let next = held[0]; next !== undefined && may(next); next = held[0]) {
      held.shift();
      view.event(next);
    }
  }
}

function changed(run: Run, job: Job): JobEvent {
  const { workflow_id, run_id, rev } = run;
  const at = job.finished_at ?? job.started_at ?? run.created_at;
  return { type: 'changed', workflow_id, run_id, rev, at, job_id: job.job_id, attempt: job.attempt, job };
}

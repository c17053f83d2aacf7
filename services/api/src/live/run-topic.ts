// The topic `run`: a snapshot, then what changes.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from '@wfg/shared/contract/run';
import { readEndings } from '@wfg/shared/queries/endings';
import { readRun } from '@wfg/shared/queries/runs';
import { changedJobs, eventsBetween } from './run-events.ts';
import { type Topic, type TopicContext, TopicError } from './topic.ts';

const LONGEST_PAUSE_MS = 1_000;

/** Follows one run for the subscription `id`. */
export function runTopic(id: string, runId: string, { pool, send, pollMs }: TopicContext): Topic {
  let sent: Run | null = null;

  async function step(): Promise<number | null> {
    const startedAt = performance.now();
    const run = await readRun(pool, runId);
    const tookMs = performance.now() - startedAt;
    if (!run) throw new TopicError('not_found', `there is no run ${runId}`);
    if (sent === null || hasUnnamedChange(sent, run)) {
      await send({ op: 'snapshot', id, run });
    } else if (run.rev !== sent.rev) {
      const changed = changedJobs(new Map(sent.jobs.map((job) => [job.job_id, job])), run.jobs);
      const endings = await readEndings(
        pool,
        runId,
        changed.map((job) => job.job_id),
      );
      for (const event of eventsBetween(sent, run, endings)) await send({ op: 'event', id, event });
    }
    sent = run;
    // A run of 10,000 jobs takes a third of a second to read: its bells are answered less often than they ring.
    await sleep(Math.min(tookMs, LONGEST_PAUSE_MS));
    return run.finished_at === null ? pollMs() : null;
  }

  return { step, concerns: (bell) => bell.all === true || bell.runs?.includes(runId) === true };
}

/** What the run's own row tells and no event does: its number, a cancel that was asked for. */
function hasUnnamedChange(before: Run, after: Run): boolean {
  return before.number !== after.number || (after.status === 'cancelling' && before.status !== 'cancelling');
}

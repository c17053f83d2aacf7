// The topic `run`: a snapshot, then what changes.
import { readTracedRun, type TracedRun } from '@wfg/shared/queries/run';
import { eventsBetween } from './run-events.ts';
import { type Topic, type TopicContext, TopicError } from './topic.ts';

const LONGEST_REST_MS = 1_000;

/** Follows one run for the subscription `id`. */
export function runTopic(id: string, runId: string, { pool, send, pollMs }: TopicContext): Topic {
  let sent: TracedRun | null = null;
  let restMs = 0;

  async function step(): Promise<number | null> {
    const startedAt = performance.now();
    const now = await readTracedRun(pool, runId);
    restMs = Math.min(performance.now() - startedAt, LONGEST_REST_MS);
    if (!now) throw new TopicError('not_found', `there is no run ${runId}`);
    const events = sent && eventsBetween(sent, now);
    if (events === null) await send({ op: 'snapshot', id, run: now.run });
    else for (const event of events) await send({ op: 'event', id, event });
    sent = now;
    return now.run.finished_at === null ? pollMs() : null;
  }

  return {
    step,
    // A run of 10,000 jobs takes a third of a second to read: its bells are answered less often than they ring.
    restMs: () => restMs,
    concerns: (bell) => bell.all === true || bell.runs?.includes(runId) === true,
  };
}

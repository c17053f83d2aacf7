// Reports results to the database, many in one statement, and repeats each until it has its answer.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { type Finished, finishedHint, finishJobs, type Result } from '@wfg/shared/queries/finish';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { retryPause } from '@wfg/shared/rules/pause';
import { reportedResults } from '@wfg/shared/runtime/counters';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Delivery, sendBatch } from './send-batch.ts';

const BATCH = 200;
const IDLE_MS = 60_000;
/** How soon to repeat what someone else holds locked; and at most, while that lasts. */
const BUSY_MS = 25;
const LONGEST_BUSY_MS = 1_000;

export interface Reporter extends AsyncDisposable {
  /**
   * Resolves with the database's answer (never `busy`), however long it is away. Rejects if the database refuses this
   * very result (a value that it cannot store).
   */
  report: (result: Result) => Promise<Finished>;
  /** Why results cannot be stored, for /ready; null if they can. */
  problem: () => string | null;
}

interface Waiting extends PromiseWithResolvers<Finished> {
  result: Result;
}

/**
 * One reporter serves a whole process. `takesBack` says whether what is due again at once (a task's next step) is claimed
 * by this very process, for which it has the place that just became free: then nobody else is woken for it.
 */
export function createReporter(
  pool: pg.Pool,
  doorbell: Doorbell,
  log: Logger,
  takesBack: () => boolean = () => false,
): Reporter {
  const queue = new Set<Waiting>();
  let busyTimes = 0;
  const loop = startLoop({ name: 'results', log, step: reportBatch });
  const delivery: Delivery<Waiting, Finished> = {
    async send(batch) {
      const results = batch.map(({ result }) => result);
      const finished = await withPartitions(pool, () => finishJobs(pool, results));
      for (const { answer } of finished) reportedResults.inc({ answer });
      const answered = finished.flatMap(({ answer, index }) =>
        answer === 'busy' ? [] : (results[index] ?? []),
      );
      const hint = finishedHint(finished, answered);
      if (answered.length > 0) doorbell.ring(takesBack() ? { ...hint, lanes: {} } : hint);
      return finished;
    },
    settle(waiting, finished) {
      if (finished.answer === 'busy') return;
      queue.delete(waiting);
      waiting.resolve(finished);
    },
    refuse(waiting, error) {
      queue.delete(waiting);
      waiting.reject(error);
    },
  };

  async function reportBatch(): Promise<number> {
    const batch = [...queue].slice(0, BATCH);
    if (batch.length === 0) return IDLE_MS;
    await sendBatch(batch, delivery).finally(() => batch.forEach(putLast));
    busyTimes = batch.some((waiting) => queue.has(waiting)) ? busyTimes + 1 : 0;
    return busyTimes > 0 ? retryPause(busyTimes, LONGEST_BUSY_MS, BUSY_MS) : 0;
  }

  /** What has no answer yet keeps nothing behind it from being sent. */
  function putLast(waiting: Waiting): void {
    if (queue.delete(waiting)) queue.add(waiting);
  }

  return {
    report(result) {
      const waiting: Waiting = { result, ...Promise.withResolvers<Finished>() };
      queue.add(waiting);
      loop.wake();
      return waiting.promise;
    },
    problem: loop.problem,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

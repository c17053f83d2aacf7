// Reports results to the database, many in one statement, and repeats each until it has its answer.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { isConnectionError } from '@wfg/shared/db/sqlstate';
import { type Answer, type Result, finishJobs } from '@wfg/shared/queries/finish';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { jitter } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';

const BATCH = 200;
const IDLE_MS = 60_000;
/** How soon to repeat what someone else holds locked. */
const BUSY_MS = 25;

export interface Reporter extends AsyncDisposable {
  /**
   * Resolves with the database's answer, however long it is away. Rejects if the database refuses this very result
   * (a value that it cannot store).
   */
  report: (result: Result) => Promise<Exclude<Answer, 'busy'>>;
}

interface Waiting extends PromiseWithResolvers<Exclude<Answer, 'busy'>> {
  result: Result;
}

/** One reporter serves a whole worker. */
export function createReporter(pool: pg.Pool, doorbell: Doorbell, log: Logger): Reporter {
  let queue: Waiting[] = [];
  const loop = startLoop({ name: 'results', log, step: reportBatch });

  async function reportBatch(): Promise<number> {
    const batch = queue.slice(0, BATCH);
    if (batch.length === 0) return IDLE_MS;
    const busy = await send(batch);
    return busy ? jitter(BUSY_MS) : 0;
  }

  /** Sends a batch; if the database refuses it, each alone, so that one bad value does not hold up the others. */
  async function send(batch: Waiting[]): Promise<boolean> {
    try {
      return settle(
        batch,
        await withPartitions(pool, () =>
          finishJobs(
            pool,
            batch.map(({ result }) => result),
          ),
        ),
      );
    } catch (error) {
      if (isConnectionError(error)) throw error;
      const [only] = batch;
      if (batch.length > 1 || !only) return (await sendEach(batch)).includes(true);
      queue = queue.filter((waiting) => waiting !== only);
      only.reject(error);
      return false;
    }
  }

  async function sendEach(batch: Waiting[]): Promise<boolean[]> {
    const busy: boolean[] = [];
    for (const waiting of batch) busy.push(await send([waiting]));
    return busy;
  }

  function settle(batch: Waiting[], finished: { index: number; answer: Answer }[]): boolean {
    const done = new Set<Waiting>();
    const runs = new Set<string>();
    for (const { index, answer } of finished) {
      const waiting = batch[index];
      if (!waiting || answer === 'busy') continue;
      done.add(waiting);
      runs.add(waiting.result.run_id);
      waiting.resolve(answer);
    }
    queue = queue.filter((waiting) => !done.has(waiting));
    if (runs.size > 0) doorbell.ring({ settle: true, runs: [...runs] });
    return done.size < batch.length;
  }

  return {
    report(result) {
      const waiting: Waiting = { result, ...Promise.withResolvers<Exclude<Answer, 'busy'>>() };
      queue.push(waiting);
      loop.wake();
      return waiting.promise;
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

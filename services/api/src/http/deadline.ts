// Answers 503 in time while the database says nothing. A refused connection fails at once; a database that was frozen
// or cut off only falls silent, and how long a statement may take says nothing about that: a slow answer is not an
// absent one. So a request that takes long looks whether any other was answered lately, and else asks something easy.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { WfgError } from '@wfg/shared/contract/problem';
import { createPool } from '@wfg/shared/db/pool';
import { isConnectionError } from '@wfg/shared/db/sqlstate';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

/** A request that just missed the last answer waits two of these and one question: together less than 3 s. */
const PATIENCE_MS = 1_000;
const ANSWER_MS = 900;

export interface Deadline extends AsyncDisposable {
  /**
   * What the work comes to.
   *
   * @throws {WfgError} unavailable, when it is late and the database silent; `gone` then tells the work.
   */
  watch: <T>(work: (gone: AbortSignal) => Promise<T>) => Promise<T>;
  /** To be told what a request failed of. */
  doubt: (error: unknown) => void;
  /** Why requests cannot be served, for /ready; null if they can. */
  problem: () => string | null;
}

/**
 * `pool` is what requests use. The question goes over a connection of its own, theirs may all be waiting, which is kept
 * open: on a busy machine to connect takes longer than a question may.
 */
export function databaseDeadline(pool: Pool, url: string, log: Logger): Deadline {
  const line = createPool({
    url,
    name: 'api-check',
    max: 1,
    queryTimeoutMs: ANSWER_MS,
    idleTimeoutMs: 0,
    log,
  });
  let heardAt = 0;
  let asking: Promise<boolean> | undefined;

  function hear(error?: Error | boolean): void {
    if (!error) heardAt = performance.now();
  }

  async function ask(): Promise<boolean> {
    let isThere = false;
    const answered = line.query('select 1').then(
      () => (isThere = true),
      () => false,
    );
    await Promise.race([answered, sleep(ANSWER_MS, false, { ref: false })]);
    // In a busy process the answer may lie unread in the socket, behind the timer.
    await setImmediate();
    return isThere;
  }

  /** Whether the database is there: it has answered somebody within the last second, or does so now. */
  async function isThere(): Promise<boolean> {
    if (performance.now() - heardAt < PATIENCE_MS) return true;
    // Requests that are late together ask together.
    asking ??= ask().finally(() => (asking = undefined));
    return asking;
  }

  void ask();
  pool.on('release', hear);
  // Asks as requests do when one has failed for want of the database: with its answer they are served again.
  const trying = startLoop({
    name: 'database',
    log,
    async step() {
      await pool.query('select 1');
      return Number.POSITIVE_INFINITY;
    },
  });
  return {
    async watch(work) {
      const gone = new AbortController();
      const answer = work(gone.signal).then((value) => ({ value }));
      for (;;) {
        const inTime = await within(answer, PATIENCE_MS);
        if (inTime) return inTime.value;
        const found = await Promise.race([answer, isThere()]);
        if (typeof found === 'object') return found.value;
        if (!found) {
          // What it comes to by now is nobody's business any more.
          answer.catch((error: unknown) => log.debug({ err: error }, 'failed after its answer'));
          gone.abort();
          trying.wake();
          throw new WfgError('unavailable', 'the database does not answer: try again');
        }
      }
    },
    doubt(error) {
      if (isConnectionError(error)) trying.wake();
    },
    problem: trying.problem,
    async [Symbol.asyncDispose]() {
      await trying[Symbol.asyncDispose]();
      pool.off('release', hear);
      await line.end();
    },
  };
}

/** The answer, or null when it takes longer. */
async function within<T>(answer: Promise<T>, ms: number): Promise<T | null> {
  const inTime = new AbortController();
  const late = sleep(ms, null, { signal: inTime.signal }).catch(() => null);
  try {
    return await Promise.race([answer, late]);
  } finally {
    inTime.abort();
  }
}

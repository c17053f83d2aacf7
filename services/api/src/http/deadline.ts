// Answers 503 in time while the database says nothing. A refused connection fails at once; a database that was frozen
// or cut off only falls silent, and how long a statement may take says nothing about that: a slow answer is not an
// absent one. So a request that takes long asks the database something easy.
import { setTimeout as sleep } from 'node:timers/promises';
import { WfgError } from '@wfg/shared/contract/problem';
import { createPool } from '@wfg/shared/db/pool';
import type { Logger } from 'pino';
import { problemResponse } from './problems.ts';

/** Together less than 3 s. */
const PATIENCE_MS = 1_500;
const ANSWER_MS = 1_200;

export interface Deadline extends AsyncDisposable {
  /** The answer; or 503 when it is late and the database silent. */
  watch: (answer: Promise<Response>) => Promise<Response>;
}

/** Asks over a connection of its own: those of the requests may all be waiting. */
export function databaseDeadline(url: string, log: Logger): Deadline {
  const pool = createPool({ url, name: 'api-check', max: 1, queryTimeoutMs: ANSWER_MS, log });
  let asking: Promise<boolean> | undefined;

  async function ask(): Promise<boolean> {
    const answered = pool.query('select 1').then(
      () => true,
      () => false,
    );
    return Promise.race([answered, sleep(ANSWER_MS, false, { ref: false })]);
  }

  return {
    async watch(answer) {
      const late = new AbortController();
      const patience = sleep(PATIENCE_MS, null, { signal: late.signal }).catch(() => null);
      const inTime = await Promise.race([answer, patience]);
      late.abort();
      if (inTime) return inTime;
      // Requests that are late together ask together.
      asking ??= ask().finally(() => (asking = undefined));
      const silent = asking.then((isThere) => (isThere ? answer : null));
      return (
        (await Promise.race([answer, silent])) ??
        problemResponse(new WfgError('unavailable', 'the database does not answer: try again'))
      );
    },
    async [Symbol.asyncDispose]() {
      await pool.end();
    },
  };
}

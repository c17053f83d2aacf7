// Takes what is due, many rows in one statement; if that raises, each alone, so that a row which cannot be taken does not
// hold up the others.
import { explained } from '@wfg/shared/db/advice';
import { isConnectionError } from '@wfg/shared/db/sqlstate';
import { isNews } from '@wfg/shared/runtime/telling';
import type { Logger } from 'pino';

const BATCH = 500;

export interface Due<K, T> {
  /** Takes up to `limit`, in one statement, or this one alone. */
  take: (limit: number, only: K | null) => Promise<readonly T[]>;
  /** The first `limit` behind `after`, in an order of their own. */
  find: (limit: number, after: K | null) => Promise<readonly K[]>;
  settle: (taken: readonly T[]) => void;
  log: Logger;
  /** What is told, once a minute, of one that cannot be taken. */
  fault: string;
}

/** Takes all that is due and that nobody else holds. Throws when it cannot be found, or the database is away. */
export async function takeDue<K, T>(due: Due<K, T>): Promise<void> {
  for (let found = BATCH; found === BATCH; ) {
    const taken = await due.take(BATCH, null).catch((error: unknown) => {
      if (isConnectionError(error)) throw error;
      return null;
    });
    if (taken === null) return takeEach(due);
    due.settle(taken);
    found = taken.length;
  }
}

async function takeEach<K, T>({ take, find, settle, log, fault }: Due<K, T>): Promise<void> {
  for (let after: K | null = null; ; ) {
    const found: readonly K[] = await find(BATCH, after);
    after = found.at(-1) ?? null;
    if (after === null) return;
    for (const key of found) {
      try {
        settle(await take(1, key));
      } catch (error) {
        if (isConnectionError(error)) throw error;
        if (isNews(`${fault}: ${explained(error)}`)) log.error({ err: error, key }, fault);
      }
    }
  }
}

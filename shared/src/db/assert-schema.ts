// The check that every service makes at its start: is the schema the one it was written for?

import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { jitter, retryPause } from '../rules/pause.ts';
import { explained } from './advice.ts';
import { readMigrations } from './migration-files.ts';
import { pendingMigrations, readHistory } from './migration-history.ts';
import { errorCode, isConnectionError, SQLSTATE } from './sqlstate.ts';

const POLL_MS = 500;

export interface SchemaWait {
  signal?: AbortSignal;
  /** How long, in milliseconds, others may take to make the database on a server that is there, and to migrate it. */
  waitMs?: number;
  /** Told why it waits, each time it has looked. */
  onWait?: (why: string) => void;
  folder?: string;
}

/**
 * Resolves once all migrations are applied; a database that is away is waited for, however long. Throws at once when the
 * schema is incompatible; after `waitMs` when it is still too old, or there is no such database; and when the signal is aborted.
 */
export async function assertSchema(
  pool: Pool,
  { signal, waitMs = 30_000, onWait, folder }: SchemaWait = {},
): Promise<void> {
  const known = await readMigrations(folder);
  let deadline: number | null = null;
  for (let failures = 0; ; ) {
    const obstacle = await whatIsMissing(pool, known);
    if (obstacle === undefined) return;
    const isAway = isConnectionError(obstacle);
    failures = isAway ? failures + 1 : 0;
    if (!isAway) deadline ??= performance.now() + waitMs;
    if (!isAway && deadline !== null && performance.now() > deadline) throw obstacle;
    onWait?.(isAway ? `the database is away: ${explained(obstacle)}` : obstacle.message);
    await sleep(isAway ? retryPause(failures) : jitter(POLL_MS), undefined, { signal });
  }
}

async function whatIsMissing(
  pool: Pool,
  known: Awaited<ReturnType<typeof readMigrations>>,
): Promise<Error | undefined> {
  try {
    const [first] = pendingMigrations(known, await readHistory(pool));
    return first && new Error(`the database schema is too old (${first.name} is missing): run wfg migrate`);
  } catch (err) {
    if (!(err instanceof Error)) throw err;
    if (isConnectionError(err)) return err;
    // Who makes the database migrates it next.
    if (errorCode(err) === SQLSTATE.noSuchDatabase) return new Error(explained(err), { cause: err });
    throw err;
  }
}

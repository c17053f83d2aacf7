// The check that every service makes at its start: is the schema the one it was written for?

import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { jitter } from '../rules/pause.ts';
import { readMigrations } from './migration-files.ts';
import { pendingMigrations, readHistory } from './migration-history.ts';
import { isConnectionError } from './sqlstate.ts';

const POLL_MS = 500;

interface SchemaWait {
  signal?: AbortSignal;
  /** How long, in milliseconds, others may take to start the database and to migrate it. */
  waitMs?: number;
  folder?: string;
}

/**
 * Resolves once all migrations are applied. Throws SchemaError at once when the schema is incompatible; after
 * `waitMs` when it is still too old, or the database away; and when the signal is aborted.
 */
export async function assertSchema(
  pool: Pool,
  { signal, waitMs = 30_000, folder }: SchemaWait = {},
): Promise<void> {
  const known = await readMigrations(folder);
  const deadline = Date.now() + waitMs;
  for (;;) {
    const obstacle = await whatIsMissing(pool, known);
    if (obstacle === undefined) return;
    if (Date.now() > deadline) throw obstacle;
    await sleep(jitter(POLL_MS), undefined, { signal });
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
    if (err instanceof Error && isConnectionError(err)) return err;
    throw err;
  }
}

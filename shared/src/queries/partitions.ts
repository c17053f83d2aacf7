// Daily partitions of history, attempts and logs.
import { errorCode, SQLSTATE } from '../db/sqlstate.ts';
import type { Queryable } from '../db/pool.ts';

const DAYS_AHEAD = 7;

const ENSURE = `
select wfg_ensure_partitions(
  (wfg_now() at time zone 'utc')::date - 1,
  (wfg_now() at time zone 'utc')::date + $1::int) as made`;

/** Makes the partitions from yesterday to a week ahead that are missing; returns how many. */
export async function ensurePartitions(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ made: number }>(ENSURE, [DAYS_AHEAD]);
  return rows[0]?.made ?? 0;
}

/**
 * Runs a write that needs a partition; where it is missing (nobody made it ahead of time), makes it and repeats the
 * write once. `write` must be a whole statement or transaction of its own.
 */
export async function withPartitions<T>(db: Queryable, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (errorCode(error) !== SQLSTATE.checkViolation) throw error;
    await ensurePartitions(db);
    return write();
  }
}

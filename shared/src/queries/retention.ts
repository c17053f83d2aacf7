// Removes what is past retention: whole days of history, attempts and logs, then the rows of the runs that ended on them.
// Dead letters stand in wfg_jobs, and are not touched. Any number of reapers may do it at once.
import type { Queryable } from '../db/pool.ts';

export type DailyTable = 'wfg_history' | 'wfg_attempts' | 'wfg_logs';

const DROP_DAY = `
select to_char(wfg_drop_day($1::regclass, (wfg_now() at time zone 'utc')::date - $2::int), 'YYYY-MM-DD') as day`;

/**
 * Drops the oldest day of a table that ended more than so many days ago; returns it (YYYY-MM-DD), or null when there is none.
 *
 * @throws 55P03 (isTimeLimit) when somebody uses the table for longer than everyone else may be kept waiting.
 */
export async function dropDay(db: Queryable, table: DailyTable, days: number): Promise<string | null> {
  const { rows } = await db.query<{ day: string | null }>(DROP_DAY, [table, days]);
  return rows[0]?.day ?? null;
}

// A run's jobs moved to history on the day it ended: while that day is there, so is the run.
const DELETE_RUNS = `
delete from wfg_runs
where id = any(array(
  select r.id from wfg_runs r
  where r.finished_at < least((wfg_now() at time zone 'utc')::date - $1::int, (
    select min(wfg_day_of(inhrelid)) from pg_inherits where inhparent = 'wfg_history'::regclass
  ))::timestamp at time zone 'utc'
  order by r.finished_at
  limit $2::int
  for update skip locked
))`;

/** Removes up to `limit` runs that ended more than so many days ago and whose jobs are gone; returns how many. */
export async function deleteOldRuns(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(DELETE_RUNS, [days, limit]);
  return rowCount ?? 0;
}

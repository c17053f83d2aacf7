// Deadlines: jobs that waited too long for their first attempt, and runs whose time is over.
import type { Queryable } from '../db/pool.ts';
import { changeJobs } from './job-change.ts';

const EXPIRE = `
with decided as (
  select j.run_id, j.position, 'failed' as next
  from wfg_jobs j
  where j.expires_at < wfg_now() and j.state = 'pending' and j.attempt = -1
  order by j.run_id, j.position
  limit $1::int
  for update skip locked
), ${changeJobs({ error: `format('expired: no worker began it within %s s', j.expires_secs)` })}
select run_id, job_id, workflow_type from changed`;

interface Expired {
  run_id: string;
  job_id: string;
  workflow_type: string | null;
}

/** Ends up to `limit` jobs that were not begun in time, and returns them. */
export async function expireJobs(db: Queryable, limit: number): Promise<Expired[]> {
  const { rows } = await db.query<Expired>(EXPIRE, [limit]);
  return rows;
}

/** As SQL: how long the run `r` may take. One that an older version stored does not say so; it began at once. */
export const OWN_TIME = 'coalesce(make_interval(secs => r.timeout_secs), r.deadline_at - r.created_at)';

const TIME_OUT = `
with late as (
  select id from wfg_runs
  where deadline_at < wfg_now() and state = 'open' and timed_out_at is null
  order by id
  limit $1::int
  for update skip locked
)
update wfg_runs r
set timed_out_at = wfg_now(), version = r.version + 1, settled = false,
    error = format('timeout after %s s', extract(epoch from ${OWN_TIME})::int)
from late where r.id = late.id
returning r.id`;

/**
 * Ends the time of up to `limit` runs whose deadline has passed; returns their ids. A scheduler then cancels what waits
 * and asks what runs to stop.
 */
export async function timeOutRuns(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(TIME_OUT, [limit]);
  return rows.map((row) => row.id);
}

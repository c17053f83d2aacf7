// Deadlines: jobs that waited too long for their first attempt, and runs whose time is over.
import type { JobKey } from '../contract/job-key.ts';
import type { Queryable } from '../db/pool.ts';
import { changeJobs } from './job-change.ts';
import { findJobs, ONLY } from './one-job.ts';

/** As SQL: the job `j` was not begun in time. */
export const LATE_JOB = `j.expires_at < wfg_now() and j.state = 'pending' and j.attempt = -1`;

const EXPIRE = `
with decided as (
  select j.run_id, j.position, 'failed' as next
  from wfg_jobs j
  where ${LATE_JOB} and ${ONLY}
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

/** Ends up to `limit` jobs that were not begun in time, or one of them, and returns them. */
export async function expireJobs(
  db: Queryable,
  limit: number,
  only: JobKey | null = null,
): Promise<Expired[]> {
  const { rows } = await db.query<Expired>(EXPIRE, [limit, only?.run_id, only?.position]);
  return rows;
}

const FIND_JOBS = findJobs(LATE_JOB);

/** Up to `limit` jobs that were not begun in time, behind `after`. */
export async function findLateJobs(db: Queryable, limit: number, after: JobKey | null): Promise<JobKey[]> {
  const { rows } = await db.query<JobKey>(FIND_JOBS, [limit, after?.run_id, after?.position]);
  return rows;
}

/** As SQL: how long the run `r` may take. One that an older version stored does not say so; it began at once. */
export const OWN_TIME = 'coalesce(make_interval(secs => r.timeout_secs), r.deadline_at - r.created_at)';

/** As SQL: the time of the run `r` is over, and nobody has said so. */
export const LATE_RUN = `r.deadline_at < wfg_now() and r.state = 'open' and r.timed_out_at is null`;

const TIME_OUT = `
with late as (
  select r.id from wfg_runs r
  where ${LATE_RUN} and ($2::uuid is null or r.id = $2)
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
 * Ends the time of up to `limit` runs whose deadline has passed, or of one of them; returns their ids. A scheduler then
 * cancels what waits and asks what runs to stop.
 */
export async function timeOutRuns(
  db: Queryable,
  limit: number,
  only: string | null = null,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(TIME_OUT, [limit, only]);
  return rows.map((row) => row.id);
}

const FIND_RUNS = `
select r.id from wfg_runs r where ${LATE_RUN} and ($2::uuid is null or r.id > $2) order by r.id limit $1::int`;

/** Up to `limit` runs whose deadline has passed, behind `after`. */
export async function findLateRuns(db: Queryable, limit: number, after: string | null): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(FIND_RUNS, [limit, after]);
  return rows.map((row) => row.id);
}

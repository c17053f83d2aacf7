// Cancels runs and jobs: what waits ends at once, what runs is asked to stop.
import type { JobState } from '../contract/job.ts';
import type { Queryable } from '../db/pool.ts';
import { joinTx } from '../db/tx.ts';

// Locked in the order of their ids, as everywhere.
const REQUEST = `
with asked as (
  select id from wfg_runs where id = any($1::uuid[]) and state = 'open' order by id for update
)
update wfg_runs r
set cancel_requested_at = coalesce(r.cancel_requested_at, wfg_now()),
    cancel_force = r.cancel_force or $2::boolean,
    version = case when r.cancel_requested_at is null then r.version + 1 else r.version end,
    settled = false
from asked where r.id = asked.id
returning r.id`;

// One statement for both, so that a job claimed or handed back meanwhile is judged by the state it is in by then. Locked
// in the order of their keys, as everywhere: a worker may be giving up several of them at once. A run out of time spares
// nothing. Of a run from SQL that no scheduler has read it is not known yet what is to be spared: whoever reads it
// cancels.
const CANCEL = `
with asked as (
  select j.run_id, j.position, r.timed_out_at is not null as is_late
  from wfg_runs r
  join wfg_jobs j on j.run_id = r.id
  where r.id = any($1::uuid[]) and (r.cancel_requested_at is not null or r.timed_out_at is not null)
    and r.submitted is null and (j.tolerates <> 'cancel' or r.cancel_force or r.timed_out_at is not null)
    and (j.state in ('blocked', 'pending') or j.state = 'active' and j.cancel_requested_at is null)
  order by j.run_id, j.position
  for update of j
), stopped as (
  update wfg_jobs j
  set cancel_requested_at = coalesce(j.cancel_requested_at, wfg_now()),
      out_of_time = j.state = 'active' and a.is_late,
      state = case when j.state = 'active' then j.state else 'cancelled' end,
      finished_at = case when j.state = 'active' then null else wfg_now() end,
      settled = j.state = 'active',
      version = j.version + 1, updated_at = wfg_now()
  from asked a
  where j.run_id = a.run_id and j.position = a.position
  returning j.run_id, j.state
)
select distinct run_id from stopped where state = 'active'`;

/**
 * Applies the wish to the jobs of those of the (locked) runs that have it, and the end of their time; returns the runs
 * in which something was asked to stop.
 */
export async function cancelJobs(tx: Queryable, runs: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ run_id: string }>(CANCEL, [runs]);
  return rows.map((row) => row.run_id);
}

/**
 * Cancels those of the runs that are open, and returns their ids. Jobs whose `if` calls always() or cancelled() are
 * spared, unless `force`. Needs a transaction of its own.
 */
export async function cancelRuns(tx: Queryable, runs: readonly string[], force = false): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(REQUEST, [runs, force]);
  const open = rows.map((row) => row.id);
  if (open.length > 0) await cancelJobs(tx, open);
  return open;
}

const OPEN = `select id from wfg_runs where workflow_id = $1::text and state = 'open' order by id`;

/** The runs of a workflow that are going on. */
export async function findOpenRuns(db: Queryable, workflowId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(OPEN, [workflowId]);
  return rows.map((row) => row.id);
}

const CANCEL_JOB = `select wfg_cancel_job($1::uuid, $2::text) as state`;

/**
 * Cancels one job, of a graph or standalone: returns the state it is in now (`active`: it was asked to stop), or null
 * when there is no such job that could be cancelled.
 */
export async function cancelJob(db: Queryable, runId: string, jobId: string): Promise<JobState | null> {
  const { rows } = await joinTx(db, (tx) => tx.query<{ state: JobState | null }>(CANCEL_JOB, [runId, jobId]));
  return rows[0]?.state ?? null;
}

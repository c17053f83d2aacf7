// Cancels runs: what waits ends at once, what runs is asked to stop.
import type { Queryable } from '../db/pool.ts';

// Locked in the order of their ids, as everywhere.
const REQUEST = `
with asked as (
  select id from wfg_runs where id = any($1::uuid[]) and state = 'open' order by id for update
)
update wfg_runs r
set cancel_requested_at = coalesce(r.cancel_requested_at, wfg_now()),
    version = case when r.cancel_requested_at is null then r.version + 1 else r.version end,
    settled = false
from asked where r.id = asked.id
returning r.id`;

// One statement for both, so that a job claimed or handed back meanwhile is judged by the state it is in by then.
const CANCEL = `
update wfg_jobs j
set cancel_requested_at = coalesce(j.cancel_requested_at, wfg_now()),
    state = case when j.state = 'active' then j.state else 'cancelled' end,
    finished_at = case when j.state = 'active' then null else wfg_now() end,
    settled = j.state = 'active',
    version = j.version + 1, updated_at = wfg_now()
from wfg_runs r
where r.id = any($1::uuid[]) and r.cancel_requested_at is not null and j.run_id = r.id
  and (j.state in ('blocked', 'pending') or j.state = 'active' and j.cancel_requested_at is null)
returning j.state`;

/** Applies the wish to the jobs of those of the (locked) runs that have it. */
export async function cancelJobs(tx: Queryable, runs: readonly string[]): Promise<void> {
  await tx.query(CANCEL, [runs]);
}

/** Cancels those of the runs that are open, and returns their ids. Needs a transaction of its own. */
export async function cancelRuns(tx: Queryable, runs: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(REQUEST, [runs]);
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

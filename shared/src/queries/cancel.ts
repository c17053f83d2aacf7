// Cancels a run: what waits ends at once, what runs is asked to stop.
import type { Queryable } from '../db/pool.ts';

const REQUEST = `
update wfg_runs
set cancel_requested_at = coalesce(cancel_requested_at, wfg_now()),
    version = case when cancel_requested_at is null then version + 1 else version end,
    settled = false
where id = $1::uuid and state = 'open'
returning id`;

/** Notes the wish on the run's row, which stays locked until the transaction ends. False: no open run of that id. */
export async function requestCancel(tx: Queryable, run: string): Promise<boolean> {
  const { rowCount } = await tx.query(REQUEST, [run]);
  return rowCount === 1;
}

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

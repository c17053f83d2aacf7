// Whether a job is to stop, asked by its name and that of its workflow, as workers of workflow-graph do.
import { z } from 'zod';
import type { Queryable } from '../db/pool.ts';
import { MOVED_ON } from './run-row.ts';

// A run of no stored workflow, and a standalone job, go by the id of the run. Of several attempts none may be stopped for
// the sake of another, so all must have been asked; the heartbeat of its lease tells a worker more exactly.
const LIVE = `
with run as (
  select r.id from wfg_runs r where r.workflow_id = $1::text and r.state = 'open'
  union
  select $2::uuid where $2 is not null
)
select bool_and(j.cancel_requested_at is not null) as cancelled
from run join wfg_jobs j on j.run_id = run.id and j.job_id = $3::text
where j.state = 'active'`;

const LATEST = `
with run as (
  select r.id, ${MOVED_ON} as moved_on from wfg_runs r
  where r.id = coalesce(
    (select latest.id from wfg_runs latest where latest.workflow_id = $1::text order by latest.id desc limit 1), $2::uuid)
)
select job.cancel_requested_at is not null or job.state = 'cancelled' as cancelled
from (
  select j.cancel_requested_at, j.state from run join wfg_jobs j on j.run_id = run.id and j.job_id = $3::text
  union all
  select h.cancel_requested_at, h.state from wfg_history h
  where h.run_id = (select id from run) and h.job_id = $3::text and h.moved_on = (select moved_on from run)
  union all
  select j.cancel_requested_at, j.state from wfg_jobs j
  where j.run_id = $2 and j.position = 0 and j.job_id = $3
  union all
  select h.cancel_requested_at, h.state from wfg_history h
  where h.run_id = $2 and h.position = 0 and h.job_id = $3
) job`;

const RunId = z.uuid();

/** Whether all attempts of the job that run are to stop; if none runs, the job in the latest run. False if unknown. */
export async function isJobCancelled(db: Queryable, workflowId: string, jobId: string): Promise<boolean> {
  const values = [workflowId, RunId.safeParse(workflowId).data ?? null, jobId];
  const live = await db.query<{ cancelled: boolean | null }>(LIVE, values);
  const answer = live.rows[0]?.cancelled ?? null;
  if (answer !== null) return answer;
  const latest = await db.query<{ cancelled: boolean }>(LATEST, values);
  return latest.rows[0]?.cancelled ?? false;
}

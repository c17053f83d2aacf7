// Gives a dead letter a new budget.
import type { Queryable } from '../db/pool.ts';

// Its last attempt, told by the job's row until now, is recorded. One that expired has none.
const REQUEUE = `
with dead as (
  select * from wfg_jobs j where j.run_id = $1::uuid and j.position = 0 and j.state = 'failed' for update
), recorded as (
  insert into wfg_attempts (ended_on, run_id, position, attempt, try, exit_code, log_chunks, log_lines, log_bytes, nonce,
    started_at, finished_at, outcome, worker_id, error)
  select (wfg_now() at time zone 'utc')::date, run_id, position, attempt, tries, exit_code, log_chunks, log_lines,
    log_bytes, nonce, started_at, finished_at, outcome, worker_id, error
  from dead where attempt >= 0
)
update wfg_jobs j
set state = 'pending', version = j.version + 1, updated_at = wfg_now(), finished_at = null, cancel_requested_at = null,
    tries = 0, losses = 0, run_at = wfg_now(), expires_at = wfg_now() + make_interval(secs => j.expires_secs)
from dead where j.run_id = dead.run_id and j.position = 0
returning j.lane::text`;

/** Makes a standalone job that failed pending again, with all its tries; returns its lane, null when it is none. */
export async function requeueJob(db: Queryable, runId: string): Promise<string | null> {
  const { rows } = await db.query<{ lane: string }>(REQUEUE, [runId]);
  return rows[0]?.lane ?? null;
}

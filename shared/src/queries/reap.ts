// Takes back the jobs whose lease ran out, within their budget, and seals what was left of their logs.
import type { Queryable } from '../db/pool.ts';

export interface Reaped {
  run_id: string;
  position: number;
  job_id: string;
  attempt: number;
  worker_id: string;
  state: 'pending' | 'failed' | 'cancelled';
  lane: string;
}

// A command's lost lease is charged like a failure: what kills its worker each time must end. A handler's or a step's
// is not (it may only have waited in a dying worker's queue), but counted: five losses end it.
// The version grows by two: that the lease expired, and that the job failed by it.
// wfg_jobs_active is small (what is running now), so filtering it by expiry needs no index of its own.
const REAP = `
with expired as (
  select j.run_id, j.position, j.attempt, j.tries, j.losses, j.max_attempts, j.kind, j.backoff, j.nonce, j.started_at,
    j.worker_id, j.cancel_requested_at is not null as cancelled
  from wfg_jobs j
  where j.state = 'active' and j.lease_expires_at < wfg_now()
  order by j.run_id, j.position
  limit $1::int
  for update skip locked
), sealed as (
  select e.*, coalesce(last.sequence + 1, 0) as chunks, coalesce(last.lines, 0) as lines, coalesce(last.bytes, 0) as bytes
  from expired e
  left join lateral (
    select l.sequence, l.lines, l.bytes from wfg_logs l
    where l.day = (e.started_at at time zone 'utc')::date
      and l.run_id = e.run_id and l.position = e.position and l.attempt = e.attempt
    order by l.sequence desc limit 1
  ) last on true
), decided as (
  select s.*,
    case
      when cancelled then 'cancelled'
      when kind = 'command' and tries >= max_attempts then 'failed'
      when kind <> 'command' and losses + 1 >= 5 then 'failed'
      else 'pending'
    end as next,
    case when kind <> 'command' and losses + 1 >= 5 then 'worker lost: ' else 'lease expired: ' end
      || format('worker %s stopped renewing it', worker_id) as reason
  from sealed s
), recorded as (
  insert into wfg_attempts (ended_on, run_id, position, attempt, try, log_chunks, log_lines, log_bytes, nonce,
    started_at, finished_at, outcome, worker_id, error)
  select (wfg_now() at time zone 'utc')::date, run_id, position, attempt, tries, chunks, lines, bytes, nonce,
    started_at, wfg_now(), 'lost', worker_id, reason
  from decided where next = 'pending'
)
update wfg_jobs j
set state = d.next, version = j.version + 2, updated_at = wfg_now(), lease_expires_at = null, lease_secs = null,
    finished_at = case when d.next <> 'pending' then wfg_now() end,
    settled = d.next = 'pending' or j.position = 0,
    tries = case when d.next = 'pending' and d.kind <> 'command' then j.tries - 1 else j.tries end,
    losses = case when d.kind <> 'command' then j.losses + 1 else j.losses end,
    run_at = case when d.next = 'pending' and d.kind = 'command'
      then wfg_now() + wfg_backoff(d.backoff, d.tries) else j.run_at end,
    outcome = 'lost', error = d.reason, log_chunks = d.chunks, log_lines = d.lines, log_bytes = d.bytes
from decided d
where j.run_id = d.run_id and j.position = d.position
returning j.run_id, j.position, j.job_id, j.attempt, j.worker_id, j.state, j.lane::text`;

/** Takes back up to `limit` expired leases. Any number of reapers may do so at once. */
export async function reapExpired(db: Queryable, limit: number): Promise<Reaped[]> {
  const { rows } = await db.query<Reaped>(REAP, [limit]);
  return rows;
}

// Takes attempts back from workers that can no longer end them, within the job's budget, and seals what was left of
// their logs: leases that ran out, and attempts whose process died under a worker that lives.
import type { JobState } from '../contract/job.ts';
import type { JobKey } from '../contract/job-key.ts';
import type { Hint } from '../contract/bell.ts';
import type { Queryable } from '../db/pool.ts';
import { BACKOFF, BUDGET, DECLARED } from './declared.ts';
import { changeJobs } from './job-change.ts';
import { heldBy, type Lease, leaseColumns } from './leases.ts';
import { findJobs, ONLY } from './one-job.ts';
import { EXPIRED, HAD_ITS_TIME } from './outage.ts';

export interface Reaped {
  run_id: string;
  position: number;
  job_id: string;
  attempt: number;
  worker_id: string;
  state: JobState;
  lane: string;
}

/** Times the losses before. */
const APART_SECS = 3;

const JOB = `j.run_id, j.position, j.attempt, j.tries, j.losses, j.max_attempts, j.kind, j.workflow_type, j.backoff,
    j.nonce, j.started_at, j.worker_id, j.out_of_time, j.step, j.cancel_requested_at is not null as cancelled`;

// A command's lost lease is charged like a failure: what kills its worker each time must end. A handler's or a step's
// is not (it may only have waited in a dying worker's queue): its try is given back, also where it was the last. But it is
// counted: five losses end it.
// What was lost together more than once comes back apart: one that takes its process down each time would take the others
// along until they are all dead.
// The version grows by two: that the lease expired, and that the job failed by it.
// The nonce is turned negative, so that nothing which is told under the lease can match it any more.
// `taken` holds the locked jobs `l`, with `ended_as` and `reason` (null: the worker was lost).
const takeBack = (taken: string) => `
with taken as (${taken}
), sealed as (
  select l.*, coalesce(last.sequence + 1, 0) as chunks, coalesce(last.lines, 0) as lines, coalesce(last.bytes, 0) as bytes,
    l.kind = 'command' or l.ended_as <> 'lost' as charged, ${BACKOFF} as waits, ${BUDGET} as budget
  from taken l
  left join wfg_handlers h on ${DECLARED}
  left join lateral (
    select log.sequence, log.lines, log.bytes from wfg_logs log
    where log.day = (l.started_at at time zone 'utc')::date
      and log.run_id = l.run_id and log.position = l.position and log.attempt = l.attempt
    order by log.sequence desc limit 1
  ) last on true
), decided as (
  select s.*,
    case
      when out_of_time then 'failed'
      when cancelled then 'cancelled'
      when charged and tries >= budget then 'failed'
      when not charged and losses + 1 >= 5 then 'failed'
      else 'pending'
    end as next,
    case
      when not charged and losses + 1 >= 5 then 'worker lost: ' || coalesce(reason, expiry)
      else coalesce(reason, 'lease expired: ' || expiry)
    end as error
  from sealed s
  cross join lateral (select format('worker %s stopped renewing it', worker_id)) as e (expiry)
), recorded as (
  insert into wfg_attempts (ended_on, run_id, position, attempt, try, log_chunks, log_lines, log_bytes, nonce,
    started_at, finished_at, outcome, worker_id, error, step)
  select (wfg_now() at time zone 'utc')::date, run_id, position, attempt, tries, chunks, lines, bytes, -nonce,
    started_at, wfg_now(), ended_as, worker_id, error, step
  from decided where next = 'pending'
), ${changeJobs({
  nonce: '-j.nonce',
  version: 'j.version + 2',
  lease_expires_at: 'null',
  lease_secs: 'null',
  tries: 'case when d.charged then j.tries else j.tries - 1 end',
  losses: 'case when d.charged then j.losses else j.losses + 1 end',
  run_at: `case
    when d.next <> 'pending' then j.run_at
    when d.charged then wfg_now() + wfg_backoff(d.waits, d.tries)
    when j.losses = 0 then j.run_at
    else wfg_now() + make_interval(secs => random() * ${APART_SECS} * j.losses) end`,
  max_attempts: 'd.budget',
  outcome: 'd.ended_as',
  error: 'd.error',
  log_chunks: 'd.chunks',
  log_lines: 'd.lines',
  log_bytes: 'd.bytes',
})}
select run_id, position, job_id, attempt, worker_id, state, lane::text from changed
union all
select run_id, position, job_id, attempt, worker_id, state, lane::text from kept`;

/**
 * As SQL: the job `j` is to be taken back. wfg_jobs_active is small (what is running now), so filtering it by expiry
 * needs no index of its own. A worker that claims over HTTP (no instance) may know nothing of timeouts: they are kept
 * for it. After an outage it has the time of its lease to say what it did meanwhile.
 */
export const OVERDUE = `j.state = 'active' and (${EXPIRED}
    or j.instance is null and j.started_at + make_interval(secs => j.timeout_secs) < wfg_now())
    and ${HAD_ITS_TIME}`;

const REAP = takeBack(`
  select ${JOB},
    case when ${EXPIRED} then 'lost' else 'timed_out' end as ended_as,
    case when not ${EXPIRED} then format('timeout after %ss', j.timeout_secs) end as reason
  from wfg_jobs j
  where ${OVERDUE} and ${ONLY}
  order by j.run_id, j.position
  limit $1::int
  for update skip locked`);

/** Takes back up to `limit` expired leases, or that of one job. Any number of reapers may do so at once. */
export async function reapExpired(
  db: Queryable,
  limit: number,
  only: JobKey | null = null,
): Promise<Reaped[]> {
  const { rows } = await db.query<Reaped>(REAP, [limit, only?.run_id, only?.position]);
  return rows;
}

const FIND = findJobs(OVERDUE);

/** The jobs of up to `limit` expired leases, behind `after`. */
export async function findExpired(db: Queryable, limit: number, after: JobKey | null): Promise<JobKey[]> {
  const { rows } = await db.query<JobKey>(FIND, [limit, after?.run_id, after?.position]);
  return rows;
}

const SURRENDER = takeBack(`
  select ${JOB}, case when m.error is null then 'lost' else 'failed' end as ended_as, coalesce(m.error, $6::text) as reason
  from unnest($1::uuid[], $2::int[], $3::int[], $4::bigint[], $5::text[])
    as m (run_id, position, attempt, nonce, error)
  join wfg_jobs j on j.run_id = m.run_id and j.position = m.position
  where ${heldBy('m.attempt', 'm.nonce')}
  order by j.run_id, j.position
  for update of j skip locked`);

const HELD = `
select (m.index - 1)::int as index
from unnest($1::uuid[], $2::int[], $3::int[], $4::bigint[])
  with ordinality as m (run_id, position, attempt, nonce, index)
join wfg_jobs j on j.run_id = m.run_id and j.position = m.position
where ${heldBy('m.attempt', 'm.nonce')}`;

/** An attempt whose process is gone; with an `error` it was this attempt's fault, and is its failed try. */
export interface Surrendered extends Lease {
  error: string | null;
}

/**
 * Gives attempts up whose process died: those at fault fail, the others are lost for `reason`. Those that are no
 * longer their worker's are left alone. Returns what became of those that were `taken`, and which are still to be given
 * up, since someone else held them locked.
 */
export async function surrenderLeases<T extends Surrendered>(
  db: Queryable,
  attempts: readonly T[],
  reason: string,
): Promise<{ taken: Reaped[]; busy: T[] }> {
  const errors = attempts.map((attempt) => attempt.error);
  const { rows: taken } = await db.query<Reaped>(SURRENDER, [...leaseColumns(attempts), errors, reason]);
  if (taken.length === attempts.length) return { taken, busy: [] };
  const held = await db.query<{ index: number }>(HELD, leaseColumns(attempts));
  return { taken, busy: held.rows.flatMap(({ index }) => attempts[index] ?? []) };
}

/** What to ring after jobs were taken back. */
export function hintOf(reaped: readonly Reaped[]): Hint {
  const lanes: Record<string, number> = {};
  for (const { state, lane } of reaped) if (state === 'pending') lanes[lane] = (lanes[lane] ?? 0) + 1;
  return { lanes, settle: true, runs: [...new Set(reaped.map((job) => job.run_id))] };
}

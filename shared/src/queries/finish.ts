// Ends attempts: state, record of the attempt, outputs and retry, in one statement for many jobs.
import type { Hint } from '../contract/bell.ts';
import type { JobState, Outcome } from '../contract/job.ts';
import { toStorableJson } from '../contract/json.ts';
import type { Queryable } from '../db/pool.ts';
import type { NextStep } from '../sdk/next-step.ts';
import { BACKOFF, BUDGET, DECLARED, IS_SERVED } from './declared.ts';
import { changeJobs } from './job-change.ts';
import { heldBy, type Lease, leaseColumns } from './leases.ts';

/** What a worker has to say about one attempt, with the seal of its log. */
export interface Result extends Lease {
  outcome: Exclude<Outcome, 'lost'>;
  /** A failure that another try may mend. */
  retryable: boolean;
  error: string | null;
  exit_code: number | null;
  outputs: Record<string, string> | null;
  log_chunks: number;
  log_lines: number;
  log_bytes: number;
  /** Of a task whose step completed: what comes next. Without it the task is done. */
  next?: NextStep | null | undefined;
  /**
   * Of a task that failed: its step cannot be decoded. Nothing was tried, so the try does not count. A worker may help
   * (`retryable`) that has another version of the task.
   */
  is_parked?: boolean;
}

/** applied · already: this same report had been applied · lost: the attempt is no longer this worker's · busy: again. */
export type Answer = 'applied' | 'already' | 'lost' | 'busy';

/** The wait of what another worker is to take, as a backoff. */
const ELSEWHERE = '{"Fixed":{"delay_secs":3,"jitter":1}}';

// A job whose cancel was asked for ends cancelled whatever the report says: the report is the acknowledgement. So does
// one whose run is out of time, as failed. A hand-back gives the try back and keeps run_at, so the job keeps its place
// in the queue; its reason is told of the attempt alone, since nothing went wrong with the job. A step that this worker
// does not know, and another that lives does, is handed back to that one, a little later so that it does not go round in
// circles. An attempt that is not the job's last gets a row in wfg_attempts; the last one is told by the job itself.
// A step's end makes its task pending for the next step, with fresh tries and behind what is due already.
// The backoff is the job's own, else its handler's, else for events one to sixty seconds.
const FINISH = `
with report as (
  select * from unnest($1::uuid[], $2::int[], $3::int[], $4::bigint[], $5::text[], $6::bool[], $7::text[], $8::int[],
    $9::text[], $10::int[], $11::bigint[], $12::bigint[], $13::json[], $14::bool[])
    with ordinality as r (run_id, position, attempt, nonce, outcome, retryable, error, exit_code, outputs,
      log_chunks, log_lines, log_bytes, onward, is_parked, index)
), locked as (
  select r.*, j.cancel_requested_at is not null as cancelled, j.out_of_time, j.tries, j.max_attempts, j.kind,
    j.workflow_type, j.step, j.backoff, j.worker_id, j.started_at
  from report r
  join wfg_jobs j on j.run_id = r.run_id and j.position = r.position
  where ${heldBy('r.attempt', 'r.nonce')}
  order by j.run_id, j.position
  for update of j skip locked
), decided as (
  select l.run_id, l.position, l.attempt, l.nonce, l.exit_code, l.outputs, l.log_chunks, l.log_lines, l.log_bytes,
    l.index, l.tries, l.worker_id, l.started_at, l.step, l.is_parked, is_elsewhere, ${BACKOFF} as backoff, ${BUDGET} as budget,
    case when not cancelled and not out_of_time and outcome = 'completed' then l.onward end as onward, n.max_attempts as next_budget,
    case
      when out_of_time then 'failed'
      when cancelled then 'cancelled'
      when outcome = 'completed' and l.onward is not null then 'pending'
      when outcome = 'completed' then 'completed'
      when outcome = 'handed_back' then 'pending'
      when outcome = 'cancelled' then 'cancelled'
      when is_elsewhere or retryable and not l.is_parked and tries < ${BUDGET} then 'pending'
      else 'failed'
    end as next,
    case when out_of_time then 'timed_out' when cancelled then 'cancelled' when is_elsewhere then 'handed_back'
      else outcome end as ended_as,
    case
      when out_of_time then 'the time of its run is over'
      when cancelled and outcome = 'handed_back' then null
      else l.error
    end as error
  from locked l
  left join wfg_handlers h on ${DECLARED}
  cross join lateral (select l.is_parked and l.retryable and ${IS_SERVED} as is_elsewhere) elsewhere
  left join wfg_handlers n on n.kind = 'task' and n.workflow_type = l.workflow_type and n.step = l.onward ->> 'step'
), ${changeJobs({
  lease_expires_at: 'null',
  lease_secs: 'null',
  tries: `case when d.onward is not null then 0
    when d.ended_as = 'handed_back' or d.is_parked then j.tries - 1 else j.tries end`,
  losses: 'case when d.onward is not null then 0 else j.losses end',
  max_attempts: 'case when d.onward is not null then coalesce(d.next_budget, 1) else d.budget end',
  run_at: `case
    when d.onward is not null then
      coalesce((d.onward ->> 'at')::timestamptz, wfg_now() + make_interval(secs => (d.onward ->> 'delay_secs')::float8))
    when d.next = 'pending' and d.is_elsewhere then wfg_now() + wfg_backoff('${ELSEWHERE}', 1)
    when d.next = 'pending' and d.ended_as <> 'handed_back' then wfg_now() + wfg_backoff(d.backoff, d.tries)
    else j.run_at end`,
  step: `case when d.onward is not null then d.onward ->> 'step' else j.step end`,
  payload: `case when d.onward is not null then d.onward -> 'payload' else j.payload end`,
  outcome: 'd.ended_as',
  error: `case when d.ended_as = 'handed_back' then j.error else coalesce(d.error, j.error) end`,
  exit_code: 'd.exit_code',
  outputs: `case when d.next = 'completed' then d.outputs::json end`,
  log_chunks: 'd.log_chunks',
  log_lines: 'd.log_lines',
  log_bytes: 'd.log_bytes',
})}, recorded as (
  insert into wfg_attempts (ended_on, run_id, position, attempt, try, exit_code, log_chunks, log_lines, log_bytes, nonce,
    started_at, finished_at, outcome, worker_id, error, step)
  select (wfg_now() at time zone 'utc')::date, run_id, position, attempt, tries, exit_code, log_chunks, log_lines,
    log_bytes, nonce, started_at, wfg_now(), ended_as, worker_id, error, step
  from decided where next = 'pending'
)
select (r.index - 1)::int as index,
  case
    when d.next is not null then 'applied'
    when ${heldBy('r.attempt', 'r.nonce')} then 'busy'
    else 'lost'
  end as answer,
  coalesce(d.next, j.state) as state,
  case when c.state = 'pending' and c.run_at <= wfg_now() then c.lane::text end as lane
from report r
left join decided d on d.index = r.index
left join changed c on c.run_id = d.run_id and c.position = d.position
left join wfg_jobs j on j.run_id = r.run_id and j.position = r.position
order by r.index`;

// Asked only for what FINISH did not find: planning it touches every partition.
const TOLD = `
select (m.index - 1)::int as index, told.state
from unnest($1::uuid[], $2::int[], $3::int[], $4::bigint[])
  with ordinality as m (run_id, position, attempt, nonce, index)
cross join lateral (
  select j.state from wfg_jobs j
    where j.run_id = m.run_id and j.position = m.position and j.attempt = m.attempt and j.nonce = m.nonce
  union all
  select h.state from wfg_history h
    where h.run_id = m.run_id and h.position = m.position and h.attempt = m.attempt and h.nonce = m.nonce
  union all
  select 'pending' from wfg_attempts a
    where a.run_id = m.run_id and a.position = m.position and a.attempt = m.attempt and a.nonce = m.nonce
) told`;

export interface Finished {
  index: number;
  answer: Answer;
  /** The state the job is in now, or, of what was told already, what became of it then; null when it has gone. */
  state: JobState | null;
  /** Where it may be claimed again at once; null if it may not. */
  lane: string | null;
}

/** What to ring after these attempts have ended: of standalone jobs schedulers have nothing to settle. */
export function finishedHint(finished: readonly Finished[], ended: readonly Lease[]): Hint {
  const lanes: Record<string, number> = {};
  for (const { lane } of finished) if (lane !== null) lanes[lane] = (lanes[lane] ?? 0) + 1;
  const settle = ended.some(({ position }) => position > 0) || undefined;
  return { lanes, settle, runs: [...new Set(ended.map(({ run_id }) => run_id))] };
}

/** The answer to each result, in their order. What is `busy` was locked by someone else: report it again. */
export async function finishJobs(db: Queryable, results: readonly Result[]): Promise<Finished[]> {
  if (results.length === 0) return [];
  const { rows } = await db.query<Finished>(FINISH, [
    ...leaseColumns(results),
    results.map((result) => result.outcome),
    results.map((result) => result.retryable),
    results.map((result) => result.error),
    results.map((result) => result.exit_code),
    results.map((result) => result.outputs && JSON.stringify(result.outputs)),
    results.map((result) => result.log_chunks),
    results.map((result) => result.log_lines),
    results.map((result) => result.log_bytes),
    results.map((result) => (result.next ? toStorableJson(result.next) : null)),
    results.map((result) => result.is_parked ?? false),
  ]);
  const lost = rows.filter((row) => row.answer === 'lost');
  if (lost.length === 0) return rows;
  const asked = lost.flatMap((row) => results[row.index] ?? []);
  const told = await db.query<{ index: number; state: JobState }>(TOLD, leaseColumns(asked));
  for (const { index, state } of told.rows) {
    const row = lost[index];
    if (row) Object.assign(row, { answer: 'already', state });
  }
  return rows;
}

// The attempts of one job: those that were not its last from wfg_attempts, the last one from the job's own row.
import type { Attempt, JobState, Outcome } from '../contract/job.ts';
import type { Queryable } from '../db/pool.ts';
import { isoTime } from './job-row.ts';
import { MOVED_ON } from './run-row.ts';

export interface AttemptRow {
  attempt: number;
  try: number;
  worker_id: string;
  started_at: Date;
  finished_at: Date | null;
  outcome: Outcome | null;
  error: string | null;
  exit_code: number | null;
  /** Of a task: the step it executed. */
  step: string | null;
  /** The day (UTC, YYYY-MM-DD) it started: the partition of its log. */
  day: string;
  /** The sealed count of its log's chunks; null while the attempt goes on. */
  sealed: number | null;
  /** Totals of the log: the sealed ones, or how far it has come. */
  log_chunks: number;
  log_lines: number;
  log_bytes: number;
}

export interface JobAttempts {
  run_id: string;
  position: number;
  job_id: string;
  workflow_id: string | null;
  state: JobState;
  /** Those that were asked for, in order; empty when there are none yet. */
  attempts: AttemptRow[];
}

const JOB_COLUMNS = `run_id, position, job_id, workflow_id, kind, state, created_at, attempt, tries, worker_id, started_at,
  finished_at, outcome, error, exit_code, step, log_chunks, log_lines, log_bytes`;

// A job that waits for its next try, or was cancelled while it waited, has its last attempt in wfg_attempts as well;
// that record is the one which was true when the attempt ended. Attempts end no earlier than their job was made, and
// a run's jobs are in history on the day the run ended: both keep the reads out of the other partitions. A standalone
// job has no run to say when it moved.
const READ = `
with job as (
  select ${JOB_COLUMNS} from wfg_jobs where run_id = $1::uuid and job_id = $2::text
  union all
  select ${JOB_COLUMNS} from wfg_history
  where run_id = $1::uuid and job_id = $2::text
    and moved_on = (select ${MOVED_ON} from wfg_runs r where r.id = $1::uuid)
  union all
  select ${JOB_COLUMNS} from wfg_history
  where run_id = $1::uuid and position = 0 and job_id = $2::text and $2::text = 'main'
), told as (
  select earlier.* from job
  cross join lateral (
    select a.attempt, a.try, a.worker_id, a.started_at, a.finished_at, a.outcome, a.error, a.exit_code, a.step,
      a.log_chunks, a.log_lines, a.log_bytes
    from wfg_attempts a
    where a.run_id = job.run_id and a.position = job.position
      and a.ended_on >= (job.created_at at time zone 'utc')::date and a.attempt >= coalesce($3::int, job.attempt)
    order by a.attempt
    limit $4::int
  ) earlier
  union all
  select job.attempt, wfg_last_try(job.tries, job.kind, job.outcome), job.worker_id, job.started_at, job.finished_at, job.outcome,
    job.error, job.exit_code, job.step,
    coalesce(job.log_chunks, log.sequence + 1, 0), coalesce(job.log_lines, log.lines, 0),
    coalesce(job.log_bytes, log.bytes, 0)
  from job
  left join lateral (
    select l.sequence, l.lines, l.bytes from wfg_logs l
    where job.state = 'active' and l.day = (job.started_at at time zone 'utc')::date
      and l.run_id = job.run_id and l.position = job.position and l.attempt = job.attempt
    order by l.sequence desc limit 1
  ) log on true
  where job.attempt >= coalesce($3::int, 0) and not exists (
    select from wfg_attempts a
    where a.run_id = job.run_id and a.position = job.position and a.attempt = job.attempt
      and a.ended_on >= (job.created_at at time zone 'utc')::date)
)
select job.run_id, job.position, job.job_id, job.workflow_id, job.state, a.*,
  to_char(a.started_at at time zone 'utc', 'YYYY-MM-DD') as day,
  case when a.outcome is not null then a.log_chunks end as sealed
from job
left join (select * from told order by attempt limit $4::int) a on true
order by a.attempt`;

/** Which attempts: a task may have made a great many. */
export interface AttemptRange {
  /** The lowest index, or the last attempt only; from the first one if not given. */
  first?: number | 'latest' | undefined;
  /** How many at most; all if not given. */
  limit?: number | undefined;
}

type Row = Omit<JobAttempts, 'attempts'> & (AttemptRow | { attempt: null });

/** Attempts of the job, open or long ended. Null when the run or its job is unknown. */
export async function readAttempts(
  db: Queryable,
  runId: string,
  jobId: string,
  { first = 0, limit }: AttemptRange = {},
): Promise<JobAttempts | null> {
  const { rows } = await db.query<Row>(READ, [runId, jobId, first === 'latest' ? null : first, limit]);
  const [head] = rows;
  if (!head) return null;
  const { run_id, position, job_id, workflow_id, state } = head;
  return {
    run_id,
    position,
    job_id,
    workflow_id,
    state,
    attempts: rows.filter((row) => row.attempt !== null),
  };
}

/** The attempt as readers see it. */
export function toAttempt(row: AttemptRow): Attempt {
  return {
    attempt: row.attempt,
    try: row.try,
    worker_id: row.worker_id,
    started_at: isoTime(row.started_at),
    finished_at: isoTime(row.finished_at),
    outcome: row.outcome,
    error: row.outcome === 'completed' ? null : row.error,
    exit_code: row.exit_code,
    step: row.step,
    log: { chunks: row.log_chunks, lines: row.log_lines, bytes: row.log_bytes },
  };
}

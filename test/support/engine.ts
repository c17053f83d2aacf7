// Drives the engine by hand, statement by statement, as its processes do: for tests of what the rows then say.
import { randomUUID } from 'node:crypto';
import type { JobState } from '@wfg/shared/contract/job';
import type { FileJob } from '@wfg/shared/contract/workflow';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import type { Queryable } from '@wfg/shared/db/pool';
import { withTx } from '@wfg/shared/db/tx';
import { cancelRuns } from '@wfg/shared/queries/cancel';
import { type ClaimedJob, claimJobs } from '@wfg/shared/queries/claim';
import { enqueueEvent, type NewEvent } from '@wfg/shared/queries/enqueue';
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { appendLogs, type LogRow } from '@wfg/shared/queries/logs';
import { type Finished, type Result, finishJobs } from '@wfg/shared/queries/finish';
import { submitRun } from '@wfg/shared/queries/submit';
import { defineWorkflow } from '@wfg/shared/rules/definition';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { advanceRuns } from '../../services/scheduler/src/advance-runs.ts';

let nonces = 0;

/** Submits a workflow of these jobs (each `run: true` unless it says otherwise) and returns its run's id. */
export async function submit(pool: Pool, jobs: Record<string, FileJob>): Promise<string> {
  const filled = Object.fromEntries(Object.entries(jobs).map(([id, job]) => [id, { run: 'true', ...job }]));
  const definition = defineWorkflow({ name: 'test', jobs: filled });
  return (await submitRun(pool, null, definition, {})).run_id;
}

/** Stores an event of this type with FlowForge's defaults, unless `given` says otherwise, and returns its id. */
export async function enqueue(
  pool: Pool,
  workflow_type: string,
  given: Partial<NewEvent> = {},
): Promise<string> {
  const defaults = { payload: {}, max_attempts: 3, run_at: null, expires_in_secs: null, priority: 0 };
  const event = { ...defaults, backoff: null, timeout_secs: null, ...given, workflow_type };
  return (await enqueueEvent(pool, event)).run_id;
}

/** Claims the one due event of this type. */
export async function claimEvent(pool: Pool, workflow_type: string): Promise<ClaimedJob> {
  const [job] = await claim(pool, { labels: [`:event ${workflow_type}`], limit: 1 });
  if (!job) throw new Error(`no event ${workflow_type} is due`);
  return job;
}

/** Claims as a worker that offers `labels`. */
export async function claim(
  db: Queryable,
  {
    limit = 100,
    labels = [],
    workerId = 'w1',
    memory = new ClaimMemory(),
  }: { limit?: number; labels?: string[]; workerId?: string; memory?: ClaimMemory } = {},
): Promise<ClaimedJob[]> {
  const request = {
    workerId,
    instance: randomUUID(),
    labels: [':command', ...labels],
    limit,
    leaseSecs: 30,
    nonce: String(++nonces),
  };
  return claimJobs(db, request, memory);
}

/** A report on a claimed job. */
export function reportOf(job: ClaimedJob, told: Partial<Result> = {}): Result {
  const { run_id, position, attempt, nonce } = job;
  return {
    run_id,
    position,
    attempt,
    nonce,
    outcome: 'completed',
    retryable: true,
    error: null,
    exit_code: 0,
    outputs: {},
    log_chunks: 0,
    log_lines: 0,
    log_bytes: 0,
    ...told,
  };
}

/** Reports on a claimed job and returns the answer. */
export async function finish(
  db: Queryable,
  job: ClaimedJob,
  told: Partial<Result> = {},
): Promise<Finished | undefined> {
  const [finished] = await finishJobs(db, [reportOf(job, told)]);
  return finished;
}

/** Prints chunks of two lines each, `<attempt>:<sequence>` and an empty one, or `text` in its place. */
export async function print(
  pool: Pool,
  job: ClaimedJob,
  from: number,
  to: number,
  text = (sequence: number) => `${job.attempt}:${sequence}\n\n`,
): Promise<void> {
  const rows = Array.from({ length: to - from }, (_, index): LogRow => {
    const sequence = from + index;
    const lines = 2 * sequence + 2;
    const data = text(sequence);
    return { sequence, line: lines - 1, lines, bytes: lines, at: new Date(0), stream: 'stdout', data };
  });
  await appendLogs(pool, [{ lease: job, day: job.started_at.toISOString().slice(0, 10), rows }]);
}

/** Lets a scheduler work until nothing is left for it. */
export async function advance(pool: Pool): Promise<void> {
  await using doorbell = createDoorbell(pool, pino({ level: 'silent' }));
  while ((await advanceRuns(pool, doorbell, pino({ level: 'silent' }))) !== null);
}

/** Asks for a cancel as the api does; false when no such run is open. */
export async function cancel(pool: Pool, run: string): Promise<boolean> {
  const asked = await withTx(pool, (tx) => cancelRuns(tx, [run]));
  return asked.length > 0;
}

/** The state of each job of a run, by id, live or ended. */
export async function states(pool: Pool, run: string): Promise<Record<string, JobState>> {
  const { rows } = await pool.query<{ job_id: string; state: JobState }>(
    `select job_id, state, position from wfg_jobs where run_id = $1
     union all select job_id, state, position from wfg_history where run_id = $1 order by position`,
    [run],
  );
  return Object.fromEntries(rows.map((row) => [row.job_id, row.state]));
}

/** The run's state as its row has it. */
export async function runState(pool: Pool, run: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ state: string }>('select state from wfg_runs where id = $1', [run]);
  return rows[0]?.state;
}

// The time that passes is no outage: the reapers were there.
const STEADY = (offset: string) =>
  `update wfg_reaper set steady_until = steady_until + (${offset} - (wfg_now() - now()))`;
const CLOCK = (interval: string) =>
  `create or replace function wfg_now() returns timestamptz language sql stable parallel safe
   as 'select now() + interval ''${interval}'''`;

/** Moves the database's clock on, for everything that asks wfg_now(). */
export async function moveClock(pool: Pool, interval: string): Promise<void> {
  await pool.query(`${STEADY(`interval '${interval}'`)}; ${CLOCK(interval)}`);
}

/** The same, as if the database, or every reaper, had been away meanwhile. */
export async function passOutage(pool: Pool, interval: string): Promise<void> {
  await pool.query(CLOCK(interval));
}

/** Sets the database's clock to a time, from which it goes on. */
export async function setClock(pool: Pool, time: string): Promise<void> {
  await pool.query(
    `${STEADY(`${literal(time)}::timestamptz - now()`)};
     do $$ begin execute format(
       'create or replace function wfg_now() returns timestamptz language sql stable parallel safe as %L',
       format('select now() + interval %L', ${literal(time)}::timestamptz - now())
     ); end $$`,
  );
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

// Reads one run with its jobs, wherever they stand.
import type { Outcome } from '../contract/job.ts';
import type { Run } from '../contract/run.ts';
import type { Queryable } from '../db/pool.ts';
import { isoTime, type JobRow, jobColumns, toJob } from './job-row.ts';
import { readOffers } from './offers.ts';
import { MOVED_ON, RUN_COLUMNS, type RunRow, toRunSummary, toStandaloneSummary } from './run-row.ts';

// One statement is one snapshot: the jobs move to history in the transaction that ends the run, so all of them are in
// the one table or in the other. The run's columns are sent once, beside the first job. A standalone job has no run's
// row: it moves by itself, and its day is not known.
const read = (columns: (alias: string) => string) => `
with run as (
  select ${RUN_COLUMNS} from wfg_runs r where r.id = $1::uuid
), job as (
  select ${columns('j')} from wfg_jobs j where j.run_id = $1::uuid
  union all
  select ${columns('h')} from wfg_history h
  where h.run_id = $1::uuid and h.moved_on = (select ${MOVED_ON} from run r)
  union all
  select ${columns('h')} from wfg_history h
  where h.run_id = $1::uuid and h.position = 0 and not exists (select from run)
)
select head.run, head.now, job.*
from (
  select (select to_json(run) from run) as run, wfg_now() as now, (select count(*)::int from run) as position
) head
full join job using (position)
order by position`;

const shown = (job: string) =>
  `${jobColumns(job)}, case when ${job}.position = 0 then ${job}.payload end as payload`;
const READ = read(shown);
const READ_TRACED = read(
  (job) => `${shown(job)}, ${job}.updated_at, ${job}.outcome,
    array(select json_object_keys(${job}.outputs)) as outputs`,
);

type Shown = JobRow & { payload: unknown };
type Row<T extends Shown> = { run: RunRow | null; now: Date | null } & (T | { job_id: null });

/** The run as it is now, all of it from one moment; null when there is none of that id. */
export async function readRun(db: Queryable, runId: string): Promise<Run | null> {
  const { rows } = await db.query<Row<Shown>>(READ, [runId]);
  return toRun(db, rows);
}

/** What a job's row knows of how it came to be as it is, beyond what readers see of it. */
export interface JobTrace {
  /** Grows with every change. */
  version: number;
  /** When it last changed. */
  changed_at: string;
  /** How the last attempt ended; null before the first and while one goes on. */
  outcome: Outcome | null;
  /** Names of its outputs. */
  outputs: string[];
}

export interface TracedRun {
  run: Run;
  /** By job id. */
  traces: ReadonlyMap<string, JobTrace>;
}

type TracedRow = Shown & { updated_at: Date; outcome: Outcome | null; outputs: string[] };

/** The same, with what events are made from. */
export async function readTracedRun(db: Queryable, runId: string): Promise<TracedRun | null> {
  const { rows } = await db.query<Row<TracedRow>>(READ_TRACED, [runId]);
  const run = await toRun(db, rows);
  if (!run) return null;
  const jobs = rows.filter((row) => row.job_id !== null);
  const traces = jobs.map(({ job_id, version, updated_at, outcome, outputs }) => {
    const trace: JobTrace = { version, changed_at: isoTime(updated_at), outcome, outputs };
    return [job_id, trace] as const;
  });
  return { run, traces: new Map(traces) };
}

async function toRun(db: Queryable, rows: readonly Row<Shown>[]): Promise<Run | null> {
  const [head] = rows;
  const jobs = rows.filter((row) => row.job_id !== null);
  if (!head?.now) return null;
  const { now } = head;
  const offers = await readOffers(db, jobs, now);
  const around = { now, parents: new Map(jobs.map((job) => [job.position, job])), offers };
  const [main] = jobs;
  if (!head.run) return main ? { ...toStandaloneSummary(main), jobs: [toJob(main, around)] } : null;
  const starts = jobs.flatMap((job) => job.begun_at?.getTime() ?? []);
  const summary = toRunSummary(head.run, {
    versions: jobs.reduce((sum, job) => sum + job.version, 0),
    started_at: starts.length > 0 ? new Date(starts.reduce((a, b) => Math.min(a, b))) : null,
  });
  return { ...summary, jobs: jobs.map((job) => toJob(job, around)) };
}

// Reads one run with its jobs, wherever they stand.
import type { Run } from '../contract/run.ts';
import type { Queryable } from '../db/pool.ts';
import { type JobRow, jobColumns, toJob } from './job-row.ts';
import { MOVED_ON, RUN_COLUMNS, type RunRow, toRunSummary } from './run-row.ts';

// One statement is one snapshot: the jobs move to history in the transaction that ends the run, so all of them are in
// the one table or in the other. The run's columns are sent once, beside the first job.
const READ = `
with run as (
  select ${RUN_COLUMNS} from wfg_runs r where r.id = $1::uuid
), job as (
  select ${jobColumns('j')} from wfg_jobs j where j.run_id = $1::uuid
  union all
  select ${jobColumns('h')} from wfg_history h
  where h.run_id = $1::uuid and h.moved_on = (select ${MOVED_ON} from run r)
)
select head.run, head.now, job.*
from (select to_json(run) as run, wfg_now() as now, 1 as position from run) head
full join job using (position)
order by position`;

type Row = { run: RunRow | null; now: Date | null } & (JobRow | { job_id: null });

/** The run as it is now, all of it from one moment; null when there is none of that id. */
export async function readRun(db: Queryable, runId: string): Promise<Run | null> {
  const { rows } = await db.query<Row>(READ, [runId]);
  const [head] = rows;
  if (!head?.run || !head.now) return null;
  const jobs = rows.filter((row) => row.job_id !== null);
  const around = { now: head.now, parents: new Map(jobs.map((job) => [job.position, job])) };
  const starts = jobs.flatMap((job) => job.begun_at?.getTime() ?? []);
  const summary = toRunSummary(head.run, {
    versions: jobs.reduce((sum, job) => sum + job.version, 0),
    started_at: starts.length > 0 ? new Date(starts.reduce((a, b) => Math.min(a, b))) : null,
  });
  return { ...summary, jobs: jobs.map((job) => toJob(job, around)) };
}

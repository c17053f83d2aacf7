// Reads one job of a run with its outputs.
import type { JobState, JobWithOutputs, Outputs } from '../contract/job.ts';
import type { Queryable } from '../db/pool.ts';
import { type JobRow, jobColumns, toJob } from './job-row.ts';
import { MOVED_ON } from './run-row.ts';

// Only a blocked job is asked for its parents' states, and those are live like itself.
const READ = `
select ${jobColumns('j')}, j.outputs, wfg_now() as now, (
    select json_object_agg(p.job_id, p.state) from wfg_jobs p
    where j.state = 'blocked' and p.run_id = j.run_id and p.job_id = any(j.depends_on)
  ) as parents
from wfg_jobs j where j.run_id = $1::uuid and j.job_id = $2::text
union all
select ${jobColumns('h')}, h.outputs, wfg_now(), null
from wfg_history h
where h.run_id = $1::uuid and h.job_id = $2::text
  and h.moved_on = (select ${MOVED_ON} from wfg_runs r where r.id = $1::uuid)`;

interface Row extends JobRow {
  outputs: Outputs | null;
  now: Date;
  parents: Record<string, JobState> | null;
}

/** The job; null when the run or its job is unknown. */
export async function readJob(db: Queryable, runId: string, jobId: string): Promise<JobWithOutputs | null> {
  const { rows } = await db.query<Row>(READ, [runId, jobId]);
  const [row] = rows;
  if (!row) return null;
  const states = new Map(Object.entries(row.parents ?? {}));
  return { ...toJob(row, { now: row.now, states }), outputs: row.outputs ?? {} };
}

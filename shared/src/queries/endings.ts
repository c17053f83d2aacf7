// How the last attempts of some jobs of a run ended: what an event says beyond the job's own fields.
import type { Outcome } from '../contract/job.ts';
import type { Queryable } from '../db/pool.ts';

export interface Ending {
  job_id: string;
  outcome: Outcome | null;
  /** Names of the job's outputs. */
  outputs: string[];
}

const READ = `
select job_id, outcome, array(select json_object_keys(outputs)) as outputs
from (
  select job_id, outcome, outputs from wfg_jobs where run_id = $1::uuid and job_id = any($2::text[])
  union all
  select job_id, outcome, outputs from wfg_history where run_id = $1::uuid and job_id = any($2::text[])
) job`;

/** By job id. */
export async function readEndings(
  db: Queryable,
  runId: string,
  jobIds: readonly string[],
): Promise<Map<string, Ending>> {
  if (jobIds.length === 0) return new Map();
  const { rows } = await db.query<Ending>(READ, [runId, jobIds]);
  return new Map(rows.map((row) => [row.job_id, row]));
}

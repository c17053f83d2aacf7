// Outputs of the direct dependencies of a claimed job. Their rows are live: the run of a claimed job is open.
import { type JobKey } from '../contract/job-key.ts';
import type { Queryable } from '../db/pool.ts';

// Parents are probed by primary key, one each. A job may have 10,000 of them.
const UPSTREAM = `
select p.job_id, p.outputs
from wfg_jobs j
cross join lateral unnest(j.parents) as parent (position)
cross join lateral (
  select p.job_id, p.outputs from wfg_jobs p where p.run_id = j.run_id and p.position = parent.position limit 1
) p
where j.run_id = $1::uuid and j.position = $2::int`;

/** Outputs by job and name; every dependency is present, even if it has none. */
export type Upstream = Record<string, Record<string, string>>;

interface Row {
  job_id: string;
  outputs: Record<string, string> | null;
}

/** Reads the outputs that a job may use. */
export async function readUpstream(db: Queryable, { run_id, position }: JobKey): Promise<Upstream> {
  const { rows } = await db.query<Row>(UPSTREAM, [run_id, position]);
  return Object.fromEntries(rows.map(({ job_id, outputs }) => [job_id, outputs ?? {}]));
}

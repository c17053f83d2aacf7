// Outputs of the direct dependencies of claimed jobs. Their rows are live: the run of a claimed job is open.
import type { Queryable } from '../db/pool.ts';

const UPSTREAM = `
select j.run_id, j.position, p.job_id, p.outputs
from unnest($1::uuid[], $2::int[]) as k (run_id, position)
join wfg_jobs j on j.run_id = k.run_id and j.position = k.position
join wfg_jobs p on p.run_id = j.run_id and p.job_id = any(j.depends_on)`;

/** Outputs by job and name, each dependency present even if it has none; by `<run_id>-<position>`. */
export type Upstream = Map<string, Record<string, Record<string, string>>>;

interface Row {
  run_id: string;
  position: number;
  job_id: string;
  outputs: Record<string, string> | null;
}

/** Reads the outputs that the given jobs may use. */
export async function readUpstream(
  db: Queryable,
  jobs: readonly { run_id: string; position: number }[],
): Promise<Upstream> {
  const upstream: Upstream = new Map();
  if (jobs.length === 0) return upstream;
  const { rows } = await db.query<Row>(UPSTREAM, [
    jobs.map((job) => job.run_id),
    jobs.map((job) => job.position),
  ]);
  for (const { run_id, position, job_id, outputs } of rows) {
    const key = `${run_id}-${position}`;
    const known = upstream.get(key) ?? {};
    upstream.set(key, { ...known, [job_id]: outputs ?? {} });
  }
  return upstream;
}

// Outputs of the direct dependencies of a claimed job. Their rows are live: the run of a claimed job is open.
import { z } from 'zod';
import type { JobKey } from '../contract/job-key.ts';
import type { Queryable } from '../db/pool.ts';

// Parents are probed by primary key, one each, and read in pages: a job may have 10,000, each with 1 MiB of outputs.
const UPSTREAM = `
select p.job_id, p.outputs::text as outputs
from wfg_jobs j
cross join lateral unnest(j.parents[$3::int : $4::int]) as parent (position)
cross join lateral (
  select p.job_id, p.outputs from wfg_jobs p where p.run_id = j.run_id and p.position = parent.position limit 1
) p
where j.run_id = $1::uuid and j.position = $2::int`;

const PAGE = 50;
/** Characters of JSON of all dependencies together. */
const MAX_CHARS = 64 * 1024 * 1024;

/** The outputs cannot be read, now or later: told to the author of the workflow. */
export class UpstreamError extends Error {
  override name = 'UpstreamError';
}

/** Outputs by job and name; every dependency is present, even if it has none. */
export type Upstream = Record<string, Record<string, string>>;

const Outputs = z.record(z.string(), z.string());

/**
 * Reads the outputs that a job may use.
 *
 * @throws {UpstreamError} when they are more than 64 MiB together.
 */
export async function readUpstream(db: Queryable, { run_id, position }: JobKey): Promise<Upstream> {
  const upstream: Upstream = {};
  let chars = 0;
  for (let first = 1; ; first += PAGE) {
    const values = [run_id, position, first, first + PAGE - 1];
    const { rows } = await db.query<{ job_id: string; outputs: string | null }>(UPSTREAM, values);
    for (const { job_id, outputs } of rows) {
      upstream[job_id] = outputs === null ? {} : Outputs.parse(JSON.parse(outputs));
      chars += outputs?.length ?? 0;
    }
    if (chars > MAX_CHARS) {
      throw new UpstreamError(
        'the outputs of the jobs it needs are more than 64 MiB together: pass large data by files',
      );
    }
    if (rows.length < PAGE) return upstream;
  }
}

// Reads one job of a run with its outputs.
import type { JobState, JobWithOutputs, Outputs } from '../contract/job.ts';
import type { Queryable } from '../db/pool.ts';
import { type JobRow, jobColumns, toJob } from './job-row.ts';
import { readOffers } from './offers.ts';
import { MOVED_ON } from './run-row.ts';

const READ = `
select ${jobColumns('j')}, j.outputs, wfg_now() as now, (
    select json_agg(json_build_object('position', p.position, 'job_id', p.job_id, 'state', p.state))
    from unnest(j.parents) as parent (position)
    cross join lateral (
      select p.position, p.job_id, p.state from wfg_jobs p
      where p.run_id = j.run_id and p.position = parent.position limit 1
    ) p
  ) as around
from wfg_jobs j where j.run_id = $1::uuid and j.job_id = $2::text
union all
select ${jobColumns('h')}, h.outputs, wfg_now(), (
    select json_agg(json_build_object('position', p.position, 'job_id', p.job_id, 'state', p.state))
    from unnest(h.parents) as parent (position)
    cross join lateral (
      select p.position, p.job_id, p.state from wfg_history p
      where p.run_id = h.run_id and p.position = parent.position and p.moved_on = h.moved_on limit 1
    ) p
  )
from wfg_history h
where h.run_id = $1::uuid and h.job_id = $2::text
  and h.moved_on = (select ${MOVED_ON} from wfg_runs r where r.id = $1::uuid)
union all
select ${jobColumns('h')}, h.outputs, wfg_now(), null
from wfg_history h
where h.run_id = $1::uuid and h.job_id = $2::text and h.position = 0
  and not exists (select from wfg_runs r where r.id = $1::uuid)`;

interface Row extends JobRow {
  outputs: Outputs | null;
  now: Date;
  around: { position: number; job_id: string; state: JobState }[] | null;
}

/** The job; null when the run or its job is unknown. */
export async function readJob(db: Queryable, runId: string, jobId: string): Promise<JobWithOutputs | null> {
  const { rows } = await db.query<Row>(READ, [runId, jobId]);
  const [row] = rows;
  if (!row) return null;
  const parents = new Map((row.around ?? []).map((parent) => [parent.position, parent]));
  const { now } = row;
  const offers = await readOffers(db, [row], now);
  return { ...toJob(row, { now, parents, offers }), outputs: row.outputs ?? {} };
}

// The scheduler's part of a retry: what was skipped because of the job that was given back waits for it again.
import type { Queryable } from '../db/pool.ts';
import { revive, type RunJob } from '../rules/revive.ts';
import type { Lanes } from './advance.ts';

const FIND = `select id, retried from wfg_runs where id = any($1::uuid[]) and retried is not null order by id`;

// Blocked jobs, and ended ones, change under the lock on the run alone. One that ends meanwhile was read as going on, or
// as not settled: its end is told by the next pass, to whoever waits for it then.
const READ = `
select j.position, j.state, j.settled, j.upstream_ok, j.upstream_failed, j.parents, j.children,
  j.tolerates <> 'nothing' as is_tolerant
from wfg_jobs j where j.run_id = $1::uuid`;

// What was skipped and settled had been counted as ended. The run's id comes with each row, not as a constant: the planner
// would compare each row with each job.
const REVIVE = `
with revived as (
  update wfg_jobs j
  set blocked_on = d.blocked_on, upstream_ok = d.upstream_ok, upstream_failed = d.upstream_failed,
    state = case when d.blocked_on = 0 and j.condition is null then 'pending' else 'blocked' end,
    error = case when d.was_skipped then null else j.error end,
    finished_at = null, resolved = null, settled = true,
    run_at = wfg_now(),
    expires_at = case when d.blocked_on = 0 then wfg_now() + make_interval(secs => j.expires_secs) end,
    version = j.version + 1, updated_at = wfg_now()
  from unnest($2::uuid[], $3::int[], $4::int[], $5::boolean[], $6::boolean[], $7::boolean[])
    as d (run_id, position, blocked_on, upstream_ok, upstream_failed, was_skipped)
  where j.run_id = d.run_id and j.position = d.position
  returning j.lane, j.state
), run as (
  update wfg_runs r set retried = null, open_jobs = r.open_jobs + $8::int where r.id = $1::uuid
)
select lane::text, count(*)::int as count from revived where state = 'pending' group by lane`;

/** Does so in those of the (locked) runs that have such jobs; returns how many became claimable, by lane. */
export async function reviveJobs(tx: Queryable, runs: readonly string[]): Promise<Lanes> {
  const lanes: Lanes = {};
  const found = await tx.query<{ id: string; retried: number[] }>(FIND, [runs]);
  for (const { id, retried } of found.rows) {
    const { rows: jobs } = await tx.query<RunJob>(READ, [id]);
    const skipped = new Map(
      jobs.filter(({ state }) => state === 'skipped').map((job) => [job.position, job]),
    );
    const revived = revive(jobs, retried);
    const { rows } = await tx.query<{ lane: string; count: number }>(REVIVE, [
      id,
      revived.map(() => id),
      revived.map((job) => job.position),
      revived.map((job) => job.blocked_on),
      revived.map((job) => job.upstream_ok),
      revived.map((job) => job.upstream_failed),
      revived.map((job) => skipped.has(job.position)),
      revived.filter((job) => skipped.get(job.position)?.settled).length,
    ]);
    for (const { lane, count } of rows) lanes[lane] = (lanes[lane] ?? 0) + count;
  }
  return lanes;
}

// Moves runs on: numbers new ones, tells children what their parents did, skips what can no longer run, ends runs.
// Every statement here runs in one transaction under the lock on the run row, taken by `lockRuns`; one run is
// advanced by one scheduler at a time, and the two last parents of a child cannot miss each other.
import type { JobKey } from '../contract/job-key.ts';
import type { Queryable } from '../db/pool.ts';

// Runs are taken from behind `after`, so that one which cannot be moved on does not stand in the way of the others.
// Unsettled jobs without an open run (their run's row was removed by hand) are nobody's business. Jobs are counted, as
// far as it matters, so that a transaction can be kept short.
const FIND = `
select run_id, (
    select count(*)::int from (select from wfg_jobs j where j.run_id = found.run_id and not j.settled limit $3::int) unsettled
  ) as jobs
from (
  (select j.run_id from wfg_jobs j join wfg_runs r on r.id = j.run_id
    where not j.settled and r.state = 'open' and j.run_id > $2::uuid
    group by j.run_id order by j.run_id limit $1::int)
  union
  (select id from wfg_runs where not settled and state = 'open' and id > $2::uuid order by id limit $1::int)
) found
order by run_id
limit $1::int`;

/** Before every run. */
export const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * The first runs behind `after` in which something waits for a scheduler, up to `most.runs`, and only as many as have
 * `most.jobs` unsettled jobs together, or one that has more. Read without locks.
 */
export async function findUnsettled(
  db: Queryable,
  after: string,
  most: { runs: number; jobs: number },
): Promise<string[]> {
  const { rows } = await db.query<{ run_id: string; jobs: number }>(FIND, [most.runs, after, most.jobs]);
  let jobs = 0;
  const end = rows.findIndex((row, index) => (jobs += row.jobs) > most.jobs && index > 0);
  return rows.slice(0, end === -1 ? undefined : end).map((row) => row.run_id);
}

const LOCK = `
select id from wfg_runs where id = any($1::uuid[]) and state = 'open' order by id for update skip locked`;

/** Locks those of the runs that are open and that nobody else is advancing; returns their ids. */
export async function lockRuns(tx: Queryable, runs: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(LOCK, [runs]);
  return rows.map((row) => row.id);
}

// A number is taken from a counter of the workflow, in the order of the runs' ids.
const NUMBER = `
with fresh as (
  select id, workflow_id, row_number() over (partition by workflow_id order by id) as nth
  from wfg_runs where id = any($1::uuid[]) and number is null and workflow_id is not null
), counted as (
  insert into wfg_run_numbers as counter (workflow_id, last)
  select workflow_id, count(*) from fresh group by workflow_id order by workflow_id
  on conflict (workflow_id) do update set last = counter.last + excluded.last
  returning workflow_id, last
)
update wfg_runs r
set number = c.last - (select count(*) from fresh f where f.workflow_id = c.workflow_id) + fresh.nth,
    version = r.version + 1
from fresh join counted c using (workflow_id)
where r.id = fresh.id`;

/** Gives the runs of stored workflows that have none their number. */
export async function numberRuns(tx: Queryable, runs: readonly string[]): Promise<void> {
  await tx.query(NUMBER, [runs]);
}

// One statement, so that all of it judges by one snapshot: a job that ends meanwhile waits for the next pass.
// * `ended`: what has ended since the last pass is settled. That is not a transition anyone sees: no version.
// * `bad`: everything below a job that did not complete is skipped at once, without waiting for its other parents,
//   except jobs that tolerate it and what is below those: they are judged when all their parents have ended.
// * `told`: one update a child, however many of its parents are in the batch.
// Rows are reached by `limit 1` probes of the primary key, and the updates' own joins have no other filter: the planner
// cannot know how many rows the recursion yields, nor how many are blocked in a table that grew a moment ago, and joined
// plainly it compares each with each (a chain of 10,000: minutes; so: 0.4 s). Nothing else moves a blocked job: whoever
// does holds the lock on the run.
const SETTLE = `
with recursive ended as (
  update wfg_jobs j set settled = true
  where not j.settled and j.run_id = any($1::uuid[])
  returning j.run_id, j.position, j.children, j.state = 'completed' and j.upstream_ok as ok,
    j.state = 'failed' or j.upstream_failed as failed
), bad as (
  select run_id, position, children, failed, false as doomed from ended where not ok
  union
  select child.run_id, child.position, child.children, child.failed, true
  from (
    select distinct bad.run_id, c.position, bad.failed
    from bad cross join lateral unnest(bad.children) as c (position)
  ) next
  cross join lateral (
    select j.run_id, j.position, j.children, next.failed or j.upstream_failed as failed from wfg_jobs j
    where j.run_id = next.run_id and j.position = next.position and j.state = 'blocked' and j.tolerates = 'nothing'
    limit 1
  ) child
), doomed as (
  select run_id, position, children, bool_or(failed) as failed
  from bad where doomed
  group by run_id, position, children
), cause as (
  select bad.run_id, c.position, min(bad.position) as parent
  from bad cross join lateral unnest(bad.children) as c (position)
  group by bad.run_id, c.position
), reason as (
  select cause.run_id, cause.position, format('needs %s, which %s', p.job_id, case p.state
    when 'failed' then 'failed' when 'cancelled' then 'was cancelled'
    when 'completed' then 'ran after something before it had not completed' else 'was skipped' end) as text
  from cause
  cross join lateral (
    select p.job_id, p.state from wfg_jobs p where p.run_id = cause.run_id and p.position = cause.parent limit 1
  ) p
), skipped as (
  update wfg_jobs j
  set state = 'skipped', version = j.version + 1, updated_at = wfg_now(), finished_at = wfg_now(),
      upstream_ok = false, upstream_failed = d.failed, error = r.text
  from doomed d join reason r on r.run_id = d.run_id and r.position = d.position
  where j.run_id = d.run_id and j.position = d.position
  returning j.run_id
), told as (
  select t.run_id, c.position, count(*)::int as parents, bool_and(t.ok) as ok, bool_or(t.failed) as failed
  from (
    select run_id, children, ok, failed from ended
    union all
    select run_id, children, false, failed from doomed
  ) t
  cross join lateral unnest(t.children) as c (position)
  group by t.run_id, c.position
), waiting as (
  select told.* from told
  cross join lateral (
    select from wfg_jobs j
    where j.run_id = told.run_id and j.position = told.position and j.state = 'blocked'
    limit 1
  ) child
  where not exists (select from doomed d where d.run_id = told.run_id and d.position = told.position)
), released as (
  update wfg_jobs j
  set blocked_on = j.blocked_on - w.parents,
      upstream_ok = j.upstream_ok and w.ok,
      upstream_failed = j.upstream_failed or w.failed,
      state = case when j.blocked_on = w.parents and j.condition is null then 'pending' else j.state end,
      run_at = case when j.blocked_on = w.parents then wfg_now() else j.run_at end,
      expires_at = case when j.blocked_on = w.parents then wfg_now() + make_interval(secs => j.expires_secs) end,
      updated_at = wfg_now(), version = j.version + 1
  from waiting w
  where j.run_id = w.run_id and j.position = w.position
  returning j.run_id, j.position, j.state, j.lane, j.blocked_on
), counted as (
  update wfg_runs r set open_jobs = r.open_jobs - gone.jobs
  from (
    select run_id, count(*)::int as jobs
    from (select run_id from ended union all select run_id from skipped) one
    group by run_id
  ) gone
  where r.id = gone.run_id
)
select
  coalesce((
    select json_object_agg(lane, count)
    from (select lane::text, count(*)::int from released where state = 'pending' group by lane) by_lane
  ), '{}') as lanes,
  coalesce((
    select json_agg(json_build_object('run_id', run_id, 'position', position) order by run_id, position)
    from released where state = 'blocked' and blocked_on = 0
  ), '[]') as ready`;

/** How many jobs became claimable, by lane. */
export type Lanes = Record<string, number>;

export interface Settled {
  lanes: Lanes;
  /** Jobs all of whose parents have ended, and which have something to judge. */
  ready: JobKey[];
}

/** Tells every child what its parents did, and skips what can no longer run. */
export async function settleJobs(tx: Queryable, runs: readonly string[]): Promise<Settled> {
  const { rows } = await tx.query<Settled>(SETTLE, [runs]);
  return rows[0] ?? { lanes: {}, ready: [] };
}

// The count on the run's row says whether anything is left, so an open run is not read. A cancel, or the end of its
// time, that came when all its jobs had ended has changed nothing: it ends by what they did.
const CLOSE = `
with closing as (
  select r.id from wfg_runs r
  where r.id = any($1::uuid[]) and r.state = 'open' and r.open_jobs = 0
), told as (
  select c.id, bool_or(j.state = 'failed') as failed, bool_or(j.state = 'cancelled') as cancelled,
    max(j.finished_at) as last_end, min(j.begun_at) as started_at, coalesce(sum(j.version), 0)::int as versions
  from closing c left join wfg_jobs j on j.run_id = c.id
  group by c.id
), ended as (
  update wfg_runs r
  set state = case
        when r.cancel_requested_at <= t.last_end then 'cancelled' when r.timed_out_at <= t.last_end then 'failed'
        when r.timed_out_at is null and r.error is not null then 'failed'
        when t.failed then 'failed' when t.cancelled then 'cancelled' else 'completed' end,
      error = case when r.timed_out_at is null or r.timed_out_at <= t.last_end then r.error end,
      started_at = t.started_at, finished_at = wfg_now(), version = r.version + t.versions + 1, settled = true
  from told t where r.id = t.id
), moved as (
  delete from wfg_jobs j using closing c where j.run_id = c.id returning j.*
), kept as (
  insert into wfg_history select (wfg_now() at time zone 'utc')::date, moved.* from moved
)
select id from closing`;

/** Ends the runs in which nothing is left to do and moves their jobs to history; returns the ended. */
export async function closeRuns(tx: Queryable, runs: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(CLOSE, [runs]);
  return rows.map((row) => row.id);
}

const LOOKED = `update wfg_runs set settled = true where id = any($1::uuid[]) and not settled`;

/** Notes that a scheduler has looked at the runs' own wishes (a number, a cancel). */
export async function markRunsSettled(tx: Queryable, runs: readonly string[]): Promise<void> {
  await tx.query(LOOKED, [runs]);
}

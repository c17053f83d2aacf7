// Moves runs on: numbers new ones, tells children what their parents did, skips what can no longer run, ends runs.
// Every statement here runs in one transaction under the lock on the run row, taken by `lockRuns`; one run is
// advanced by one scheduler at a time, and the two last parents of a child cannot miss each other.
import type { Queryable } from '../db/pool.ts';

const FIND = `
select run_id from (
  (select run_id from wfg_jobs where not settled group by run_id order by run_id limit $1::int)
  union
  (select id from wfg_runs where not settled order by id limit $1::int)
) found
order by run_id`;

/** Runs in which something waits for a scheduler; read without locks. */
export async function findUnsettled(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ run_id: string }>(FIND, [limit]);
  return rows.map((row) => row.run_id);
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

// Everything below a job that did not complete is skipped at once, without waiting for its other parents, except
// jobs with a condition and what is below those: they are judged when all their parents have ended.
// Here and in SETTLE, rows are reached by `limit 1` probes of the primary key, and the update's own join has no other
// filter: the planner cannot know how many rows the recursion yields, nor how many are blocked in a table that grew a
// moment ago, and joined plainly it compares each with each (a chain of 10,000: minutes; so: 0.4 s). Nothing else
// moves a blocked job: whoever does holds the lock on the run.
const SKIP = `
with recursive bad as (
  select j.run_id, j.position, j.children from wfg_jobs j
  where not j.settled and j.run_id = any($1::uuid[]) and (j.state <> 'completed' or not j.upstream_ok)
  union
  select j.run_id, j.position, j.children
  from bad
  cross join lateral unnest(bad.children) as c (child)
  cross join lateral (
    select j.run_id, j.position, j.children from wfg_jobs j
    where j.run_id = bad.run_id and j.position = c.child and j.state = 'blocked' and j.condition is null
    limit 1
  ) j
), cause as (
  select bad.run_id, c.child, min(bad.position) as parent
  from bad
  cross join lateral unnest(bad.children) as c (child)
  group by bad.run_id, c.child
), skipped as (
  select cause.run_id, cause.child, format('needs %s, which %s', p.job_id, case p.state
    when 'failed' then 'failed' when 'cancelled' then 'was cancelled' else 'was skipped' end) as reason
  from cause
  cross join lateral (
    select from wfg_jobs j
    where j.run_id = cause.run_id and j.position = cause.child and j.state = 'blocked' and j.condition is null
    limit 1
  ) child
  cross join lateral (
    select p.job_id, p.state from wfg_jobs p where p.run_id = cause.run_id and p.position = cause.parent limit 1
  ) p
)
update wfg_jobs j
set state = 'skipped', settled = false, version = j.version + 1, updated_at = wfg_now(), finished_at = wfg_now(),
    error = s.reason
from skipped s
where j.run_id = s.run_id and j.position = s.child`;

// One update a child, however many of its parents are in the batch. Settling is not a transition anyone sees, so it
// does not raise the version.
const SETTLE = `
with ended as (
  update wfg_jobs j set settled = true
  where not j.settled and j.run_id = any($1::uuid[])
  returning j.run_id, j.children, j.state = 'completed' and j.upstream_ok as ok,
    j.state = 'failed' or j.upstream_failed as failed
), told as (
  select e.run_id, c.child, count(*)::int as parents, bool_and(e.ok) as ok, bool_or(e.failed) as failed
  from ended e cross join lateral unnest(e.children) as c (child)
  group by e.run_id, c.child
), blocked as (
  select told.* from told
  cross join lateral (
    select from wfg_jobs j
    where j.run_id = told.run_id and j.position = told.child and j.state = 'blocked'
    limit 1
  ) child
), released as (
  update wfg_jobs j
  set blocked_on = j.blocked_on - b.parents,
      upstream_ok = j.upstream_ok and b.ok,
      upstream_failed = j.upstream_failed or b.failed,
      state = case when j.blocked_on = b.parents and j.condition is null then 'pending' else j.state end,
      run_at = case when j.blocked_on = b.parents then wfg_now() else j.run_at end,
      updated_at = wfg_now(), version = j.version + 1
  from blocked b
  where j.run_id = b.run_id and j.position = b.child
  returning j.state, j.lane
)
select lane::text, count(*)::int as count from released where state = 'pending' group by lane`;

/** How many jobs became claimable, by lane. */
export type Released = { lane: string; count: number }[];

/** Skips what can no longer run, then tells every child what its parents did; returns what was released. */
export async function settleJobs(tx: Queryable, runs: readonly string[]): Promise<Released> {
  await tx.query(SKIP, [runs]);
  const { rows } = await tx.query<{ lane: string; count: number }>(SETTLE, [runs]);
  return rows;
}

// `not exists` stops at the first job still going on, so an open run costs one probe.
const CLOSE = `
with closing as (
  select r.id from wfg_runs r
  where r.id = any($1::uuid[]) and r.state = 'open'
    and not exists (
      select from wfg_jobs j
      where j.run_id = r.id and (j.state in ('blocked', 'pending', 'active') or not j.settled))
), told as (
  select c.id, bool_or(j.state = 'failed') as failed, bool_or(j.state = 'cancelled') as cancelled,
    min(j.begun_at) as started_at, coalesce(sum(j.version), 0)::int as versions
  from closing c left join wfg_jobs j on j.run_id = c.id
  group by c.id
), ended as (
  update wfg_runs r
  set state = case
        when r.cancel_requested_at is not null then 'cancelled'
        when t.failed then 'failed' when t.cancelled then 'cancelled' else 'completed' end,
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

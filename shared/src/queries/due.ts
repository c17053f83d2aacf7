// What the scheduler's sentinel looks at each second: work that is due and unclaimed, ticks of schedules that are due,
// the next of both that will be, operations, and runs that wait for a scheduler. One statement, so that an idle system asks once a
// second.
import type { Queryable } from '../db/pool.ts';
import { anyOf } from './probe.ts';

// One probe a pending lane, by the loose scan explained in claim.ts; within a lane the index is in run_at order, so
// its first row is the oldest. Up to 100 due rows a lane are counted: a bell needs no more.
const LOOK = `
with recursive lane as (
  (select lane, run_at from wfg_jobs where state = 'pending' order by lane, run_at limit 1)
  union all
  select next.lane, next.run_at
  from lane
  cross join lateral (
    select j.lane, j.run_at from wfg_jobs j
    where j.state = 'pending' and j.lane > lane.lane
    order by j.lane, j.run_at limit 1
  ) next
), counted as (
  select lane.lane, (
    select count(*)::int from (
      select from wfg_jobs j
      where j.state = 'pending' and j.lane = lane.lane and j.run_at <= wfg_now()
      order by j.run_at limit 100
    ) due
  ) as due, (
    select j.run_at from wfg_jobs j
    where j.state = 'pending' and j.lane = lane.lane and j.run_at > wfg_now()
    order by j.run_at limit 1
  ) as next_at
  from lane
)
select
  coalesce((select json_object_agg(lane::text, due) from counted where due > 0), '{}') as lanes,
  (extract(epoch from least(
    (select min(next_at) from counted),
    (select min(next_at) from wfg_schedules where next_at > wfg_now())
  ) - wfg_now()) * 1000)::float8 as next_in_ms,
  coalesce((select min(next_at) from wfg_schedules) <= wfg_now(), false) as ticks,
  exists (select from wfg_operations where finished_at is null) as operations,
  ${anyOf('wfg_jobs where not settled order by run_id')}
    or ${anyOf('wfg_runs where not settled order by id')} as unsettled`;

interface Due {
  /** Due and unclaimed, by lane; counts stop at 100. */
  lanes: Record<string, number>;
  /** Milliseconds until the next pending job or tick becomes due; null when none is to come. */
  next_in_ms: number | null;
  /** A tick of a schedule is due. */
  ticks: boolean;
  /** An operation has not finished. */
  operations: boolean;
  /** Something waits to be settled. */
  unsettled: boolean;
}

/** What is due now and when to look again. */
export async function lookForDue(db: Queryable): Promise<Due> {
  const { rows } = await db.query<Due>(LOOK);
  return rows[0] ?? { lanes: {}, next_in_ms: null, ticks: false, operations: false, unsettled: false };
}

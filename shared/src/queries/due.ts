// What the scheduler's sentinel looks at each second: work that is due and unclaimed, ticks of schedules that are due,
// the next of both that will be, operations, and runs that wait for a scheduler. One statement, so that an idle system asks once a
// second.
import type { Queryable } from '../db/pool.ts';
import { anyOf } from './probe.ts';

// One probe a pending lane, by the loose scan explained in claim.ts; within a lane the index is in run_at order, so
// its first row is the oldest. Up to 100 due rows a lane are counted: a bell needs no more.
const LOOK = `
with recursive lane as (
  (select lane, run_at, required_labels from wfg_jobs where state = 'pending' order by lane, run_at limit 1)
  union all
  select next.lane, next.run_at, next.required_labels
  from lane
  cross join lateral (
    select j.lane, j.run_at, j.required_labels from wfg_jobs j
    where j.state = 'pending' and j.lane > lane.lane
    order by j.lane, j.run_at limit 1
  ) next
), counted as (
  select lane.lane, lane.required_labels, lane.run_at < wfg_now() - interval '500 ms' as late, (
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
  coalesce((
    select json_agg(json_build_object('lane', c.lane::text, 'due', c.due, 'late', c.late, 'requires', c.required_labels))
    from counted c
    where c.due > 0 and exists (select from wfg_workers w where c.required_labels <@ w.offered)
  ), '[]') as lanes,
  (extract(epoch from least(
    (select min(next_at) from counted),
    (select min(next_at) from wfg_schedules where next_at > wfg_now())
  ) - wfg_now()) * 1000)::float8 as next_in_ms,
  coalesce((select min(next_at) from wfg_schedules) <= wfg_now(), false) as ticks,
  exists (select from wfg_operations where finished_at is null) as operations,
  ${anyOf('wfg_jobs where not settled order by run_id')}
    or ${anyOf('wfg_runs where not settled order by id')} as unsettled`;

export interface DueLane {
  lane: string;
  /** How many are due and unclaimed; counts stop at 100. */
  due: number;
  /** The oldest has been for over half a second, so that whoever was woken for it cannot take it. */
  late: boolean;
  requires: string[];
}

interface Due {
  /** In which something is due that some known worker could take. Others need no bell: a worker looks when it starts. */
  lanes: DueLane[];
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
  return rows[0] ?? { lanes: [], next_in_ms: null, ticks: false, operations: false, unsettled: false };
}

// How busy the system is, for whoever draws it over time: one statement of bounded cost, whatever the backlog.
import { z } from 'zod';
import type { Queryable } from '../db/pool.ts';
import { statusOf } from './workers.ts';

export const GAUGE_LIMITS = { lanes: 200, due: 200, runs: 100_000 } as const;

// Of each pending lane, found by the loose scan explained in claim.ts, the oldest due row and a count of them.
const READ = `
with recursive lane as (
  (select lane, run_at, required_labels, 1 as number from wfg_jobs where state = 'pending' order by lane, run_at limit 1)
  union all
  select next.lane, next.run_at, next.required_labels, lane.number + 1
  from lane
  cross join lateral (
    select j.lane, j.run_at, j.required_labels from wfg_jobs j
    where j.state = 'pending' and j.lane > lane.lane
    order by j.lane, j.run_at limit 1
  ) next
  where lane.number < ${GAUGE_LIMITS.lanes}
), due as (
  select (select label from unnest(lane.required_labels) as l (label) where label like ':%' limit 1) as label,
    (select count(*) from (
      select from wfg_jobs j
      where j.state = 'pending' and j.lane = lane.lane and j.run_at <= wfg_now()
      limit ${GAUGE_LIMITS.due}
    ) due) as jobs,
    extract(epoch from wfg_now() - lane.run_at)::float8 as oldest_secs
  from lane
  where lane.run_at <= wfg_now()
)
select
  (select coalesce(json_agg(d), '[]') from (
    select label, sum(jobs) as jobs, max(oldest_secs) as oldest_secs from due group by label order by 2 desc, 1
  ) d) as due,
  (select count(*) from (select from wfg_runs where state = 'open' limit ${GAUGE_LIMITS.runs}) open) as open_runs,
  (select coalesce(json_object_agg(status, workers), '{}') from (
    select ${statusOf(`exists (select from wfg_jobs j where j.worker_id = w.worker_id and j.state = 'active')`)} as status,
      count(*) as workers
    from wfg_workers w group by 1
  ) by_status) as workers,
  (select json_object_agg(name, bytes) from (
    select parent::text as name, sum(pg_total_relation_size(part)) as bytes
    from (
      select inhparent::regclass as parent, inhrelid as part from pg_inherits
      where inhparent in ('wfg_history'::regclass, 'wfg_attempts'::regclass, 'wfg_logs'::regclass)
      union all
      select table_name, table_name from unnest(array['wfg_jobs', 'wfg_runs']::regclass[]) as t (table_name)
    ) parts group by parent
  ) sizes) as table_bytes`;

const Gauges = z.object({
  /** By the label that says what executes them. */
  due: z.array(z.object({ label: z.string(), jobs: z.int(), oldest_secs: z.number() })),
  open_runs: z.int(),
  /** By status; without those that no worker is in. */
  workers: z.record(z.string(), z.int()),
  table_bytes: z.record(z.string(), z.int()),
});
export type Gauges = z.infer<typeof Gauges>;

/** As of now; what is beyond GAUGE_LIMITS is not counted. */
export async function readGauges(db: Queryable): Promise<Gauges> {
  const { rows } = await db.query<Record<string, unknown>>(READ);
  return Gauges.parse(rows[0]);
}

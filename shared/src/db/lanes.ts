// What lanes require, and whether something waits in them.
import type { Queryable } from './pool.ts';

/** What has been due for so long, in milliseconds, and is still there was not taken by whoever a bell has woken. */
const LATE_MS = 50;

export interface PendingLane {
  lane: string;
  required_labels: string[];
  /** Due for a while and unclaimed; counts stop at 100. */
  late: number;
}

// Two probes of the claim's index a lane.
const READ = `
select l.lane::text, j.required_labels, (
  select count(*)::int from (
    select from wfg_jobs late
    where late.state = 'pending' and late.lane = l.lane
      and late.run_at <= wfg_now() - make_interval(secs => ${LATE_MS / 1_000})
    order by late.run_at limit 100
  ) late
) as late
from unnest($1::bigint[]) as l (lane)
cross join lateral (
  select j.required_labels from wfg_jobs j where j.state = 'pending' and j.lane = l.lane order by j.run_at limit 1
) j`;

/** Those of the lanes in which a job waits. What a lane requires never changes. */
export async function readLanes(db: Queryable, lanes: readonly string[]): Promise<PendingLane[]> {
  const { rows } = await db.query<PendingLane>(READ, [lanes]);
  return rows;
}

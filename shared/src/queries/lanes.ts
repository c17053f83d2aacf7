// What lanes require.
import type { Queryable } from '../db/pool.ts';

// One probe of the claim's index a lane.
const READ = `
select l.lane::text, j.required_labels
from unnest($1::bigint[]) as l (lane)
cross join lateral (
  select j.required_labels from wfg_jobs j where j.state = 'pending' and j.lane = l.lane limit 1
) j`;

/** The labels that each lane requires, of those in which a job waits. A lane's labels never change. */
export async function readLanes(
  db: Queryable,
  lanes: readonly string[],
): Promise<{ lane: string; required_labels: string[] }[]> {
  const { rows } = await db.query<{ lane: string; required_labels: string[] }>(READ, [lanes]);
  return rows;
}

// Whether anything is due that a worker offers: what it asks unasked, once for all that it executes, so that an idle
// worker costs the same however many modules it runs.
import type { Queryable } from '../db/pool.ts';

// The loose scan explained in claim.ts; the first row of a lane is the oldest.
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
)
select exists (select from lane where run_at <= wfg_now() and required_labels <@ $1::text[]) as due`;

/** Whether a job is due whose labels are all offered (implied ones, as `:command`, included). */
export async function isAnyDue(db: Queryable, labels: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ due: boolean }>(LOOK, [labels]);
  return rows[0]?.due === true;
}

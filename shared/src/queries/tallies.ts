// The tallies of ended events: a row a statement that ended some, summed up by the reaper.
import type { Queryable } from '../db/pool.ts';

// Each row is deleted by one reaper, and is in the sum of that one: any number may do so at once.
const SUM_UP = `
with gone as (
  delete from wfg_event_tallies
  where ctid = any(array(select ctid from wfg_event_tallies limit $1::int for update skip locked))
  returning moved_on, state, events, busy_ms
)
insert into wfg_event_tallies (moved_on, state, events, busy_ms)
select moved_on, state, sum(events), sum(busy_ms) from gone group by moved_on, state
returning (select count(*)::int from gone) as gone`;

/** Puts one row for each day and state in the place of up to `limit` rows; returns how many they were. */
export async function sumUpTallies(db: Queryable, limit: number): Promise<number> {
  const { rows } = await db.query<{ gone: number }>(SUM_UP, [limit]);
  return rows[0]?.gone ?? 0;
}

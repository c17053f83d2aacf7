// What the reaper looks at every few seconds, in one statement, so that an idle system asks little.
import type { Queryable } from '../db/pool.ts';
import { MANY_JOBS } from './counts.ts';
import { LATE_JOB, LATE_RUN } from './expire.ts';
import { STAMP } from './outage.ts';
import { anyOf } from './probe.ts';
import { OVERDUE } from './reap.ts';

/** A few rows more than one for each day and state are no harm. */
const LOOSE_TALLIES = 100;
/** Read at most, however many there are: more than three for each day that is kept. */
const SEEN_TALLIES = 2_000;

const LOOK = `
with stamped as (${STAMP}
)
select
  (select resumed from stamped) as resumed,
  exists (select from wfg_jobs j where ${OVERDUE}) as leases,
  ${anyOf(`wfg_jobs j where ${LATE_JOB} order by j.expires_at`)} as waiting,
  ${anyOf(`wfg_runs r where ${LATE_RUN} order by r.deadline_at`)} as runs,
  (select count(*) - count(distinct (moved_on, state)) > ${LOOSE_TALLIES}
    from (select moved_on, state from wfg_event_tallies limit ${SEEN_TALLIES}) seen) as tallies,
  exists (select from wfg_jobs offset ${MANY_JOBS}) as many,
  (select extract(epoch from wfg_now() - counted_at)::float8 from wfg_counts) as counted_secs_ago`;

export interface Overdue {
  /** The database, or every reaper, was away until now. */
  resumed: boolean;
  /** Leases ran out. */
  leases: boolean;
  /** Jobs waited too long for their first attempt. */
  waiting: boolean;
  /** The time of runs is over. */
  runs: boolean;
  /** Tallies are worth being summed up. */
  tallies: boolean;
  /** The jobs are too many to be counted for each reader. */
  many: boolean;
  /** How old the stored counts are; null when there are none. */
  counted_secs_ago: number | null;
}

/** What there is to do for a reaper, who looks again within `interval_secs`. */
export async function lookForOverdue(db: Queryable, interval_secs: number): Promise<Overdue> {
  const { rows } = await db.query<Overdue>(LOOK, [interval_secs]);
  const [row] = rows;
  if (!row) throw new Error('looking returned no row');
  return row;
}

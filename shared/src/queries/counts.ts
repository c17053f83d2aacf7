// How many jobs and events there are. Counting takes as long as there are live ones, so while they are many the reaper
// counts for everyone, and readers take what it counted last.
//
// Measured with `npm run bench` on 5,000,000 events, 200,000 of them live, beside 200,000 jobs of graphs (PostgreSQL 18,
// 2 cores with ten other things to do, as the load says; median of 15, range):
//   what the reaper counted last, read   1.7 ms (0.9 to 7.6)
//   events counted for one reader        650 ms (340 to 2,100)
//   all counted for everyone             1,300 ms (470 to 1,900)
import { z } from 'zod';
import { EventStatus } from '../contract/event.ts';
import type { Queryable } from '../db/pool.ts';

const EventCounts = z.object({
  statuses: z.record(EventStatus, z.int()),
  /** What the last tries of the completed ones took together, in milliseconds. */
  busy_ms: z.int(),
});
type EventCounts = z.infer<typeof EventCounts>;

const JobCount = z.object({ kind: z.string(), state: z.string(), count: z.int() });
export type JobCount = z.infer<typeof JobCount>;

/** So many events are counted anew for each reader: it reads no more than entries of one index. */
const EXACT_BELOW = 100_000;
/** From so many live jobs on the reaper counts. */
export const MANY_JOBS = 20_000;
/** What nobody has counted anew for so long is not used: there is no reaper. */
const STALE_SECS = 60;

// Those that ended were tallied as they moved to history.
const EVENTS = `
select json_build_object('busy_ms', ended.busy_ms, 'statuses', json_build_object('pending', live.pending,
  'processing', live.processing, 'completed', ended.completed, 'failed', live.failed,
  'dead_lettered', live.dead + ended.dead, 'cancelled', ended.cancelled)) as events
from (
  select count(*) filter (where state = 'pending' and tries = 0) as pending,
    count(*) filter (where state = 'pending' and tries > 0) as failed,
    count(*) filter (where state = 'active') as processing,
    count(*) filter (where state = 'failed') as dead
  from wfg_jobs where kind = 'event' and position = 0
) live
cross join (
  select coalesce(sum(events) filter (where state = 'completed'), 0) as completed,
    coalesce(sum(events) filter (where state = 'failed'), 0) as dead,
    coalesce(sum(events) filter (where state = 'cancelled'), 0) as cancelled,
    coalesce(sum(busy_ms) filter (where state = 'completed'), 0) as busy_ms
  from wfg_event_tallies
) ended`;

const JOBS = `
select coalesce(json_agg(counted), '[]') as jobs
from (select kind, state, count(*) from wfg_jobs group by kind, state order by kind, state) counted`;

// Another reaper may have counted meanwhile.
const STORE = `
insert into wfg_counts (counted_at, counts)
select wfg_now(), json_build_object('events', (${EVENTS}), 'jobs', (${JOBS}))
on conflict (one) do update set counted_at = excluded.counted_at, counts = excluded.counts
where wfg_counts.counted_at < excluded.counted_at`;

/** Counts for everyone who reads within the next minute, however long it takes. */
export async function storeCounts(db: Queryable): Promise<void> {
  const patient = { text: STORE, query_timeout: STALE_SECS * 1_000 };
  await db.query(patient);
}

/** Makes readers count for themselves. */
export async function forgetCounts(db: Queryable): Promise<void> {
  await db.query('delete from wfg_counts');
}

const STORED = `
select counted_at, counts from wfg_counts where counted_at > wfg_now() - make_interval(secs => ${STALE_SECS})`;

const Counts = z.object({ events: EventCounts, jobs: z.array(JobCount) });

interface Stored extends z.infer<typeof Counts> {
  counted_at: Date;
}

async function readStored(db: Queryable): Promise<Stored | null> {
  const { rows } = await db.query<{ counted_at: Date; counts: unknown }>(STORED);
  const [row] = rows;
  return row ? { counted_at: row.counted_at, ...Counts.parse(row.counts) } : null;
}

interface CountedEvents extends EventCounts {
  /** All of them. */
  total: number;
  as_of: Date;
}

/** Standalone events by FlowForge's statuses: exact while they are fewer than 100,000. */
export async function countEvents(db: Queryable): Promise<CountedEvents> {
  const stored = await readStored(db);
  if (stored && totalOf(stored.events) >= EXACT_BELOW) return told(stored.events, stored.counted_at);
  const { rows } = await db.query<{ events: unknown; now: Date }>(
    `select counted.*, wfg_now() as now from (${EVENTS}) counted`,
  );
  const [row] = rows;
  if (!row) throw new Error('counting returned no row');
  return told(EventCounts.parse(row.events), row.now);
}

/** Live jobs by kind and state. */
export async function countJobs(db: Queryable): Promise<JobCount[]> {
  const stored = await readStored(db);
  if (stored) return stored.jobs;
  const { rows } = await db.query<{ jobs: unknown }>(JOBS);
  return z.array(JobCount).parse(rows[0]?.jobs);
}

function totalOf({ statuses }: EventCounts): number {
  return Object.values(statuses).reduce((sum, count) => sum + count, 0);
}

function told(events: EventCounts, as_of: Date): CountedEvents {
  return { ...events, total: totalOf(events), as_of };
}

// Reads standalone events, wherever they stand: live, or in history once they completed or were cancelled.
import type { Event, EventStatus } from '../contract/event.ts';
import type { JobState } from '../contract/job.ts';
import type { Queryable } from '../db/pool.ts';
import { type EventRow, eventColumns, toEvent } from './event-row.ts';
import { readOffers } from './offers.ts';
import { bytesBefore, PAGE_BYTES } from './page-bytes.ts';

const READ = `
select ${eventColumns('j')} from wfg_jobs j
where j.run_id = $1::uuid and j.position = 0 and j.kind = 'event'
union all
select ${eventColumns('h')} from wfg_history h
where h.run_id = $1::uuid and h.position = 0 and h.kind = 'event'`;

/** The event; null when there is none of that id. */
export async function readEvent(db: Queryable, id: string): Promise<Event | null> {
  const { rows } = await db.query<EventRow>(READ, [id]);
  const [row] = rows;
  return row ? toEvent(row, await readOffers(db, [row], row.now)) : null;
}

interface EventFilter {
  status?: EventStatus | undefined;
  workflow_type?: string | undefined;
  /** Events behind this one. */
  before?: string | undefined;
  limit: number;
}

interface Meaning {
  state: JobState | null;
  /** Whether it has been tried. */
  tried: boolean | null;
  /** The tables it can stand in. */
  live: boolean;
  ended: boolean;
}

const live = { live: true, ended: false };
const ANY: Meaning = { state: null, tried: null, live: true, ended: true };
const MEANING: Record<EventStatus, Meaning> = {
  pending: { state: 'pending', tried: false, ...live },
  failed: { state: 'pending', tried: true, ...live },
  processing: { state: 'active', tried: null, ...live },
  dead_lettered: { state: 'failed', tried: null, live: true, ended: true },
  completed: { state: 'completed', tried: null, live: false, ended: true },
  cancelled: { state: 'cancelled', tried: null, live: false, ended: true },
};

// A filter that is not given is null. Each call is planned with its values, so `null is null or …` falls away, and so
// does the table in which there can be none. Ids grow with time, so the newest are the last of an index on run_id: one
// row too many is read of each table, and tells whether there is another page.
const page = (alias: string) => `
  ($1::uuid is null or ${alias}.run_id < $1) and ${alias}.position = 0 and ${alias}.kind = 'event'
    and ($2::text is null or ${alias}.workflow_type = $2) and ($3::text is null or ${alias}.state = $3)
    and ($4::boolean is null or (${alias}.tries > 0) = $4)
  order by ${alias}.run_id desc limit $5::int + 1`;

/** The statement itself, for `npm run bench`. */
export const LIST = `
select * from (
  select event.*, count(*) over ()::int as found, ${bytesBefore('event')} as bytes_before
  from (
    (select ${eventColumns('j')} from wfg_jobs j where $6::boolean and ${page('j')})
    union all
    (select ${eventColumns('h')} from wfg_history h where $7::boolean and ${page('h')})
    order by run_id desc limit $5::int + 1
  ) event
) page
where bytes_before < ${PAGE_BYTES}
order by run_id desc
limit $5::int`;

interface EventPage {
  events: Event[];
  /** Behind which the next page begins; null when there is none. */
  next: string | null;
}

type ListRow = EventRow & { found: number };

/** Events, the newest first: `limit` of them, or fewer when their payloads are large. */
export async function listEvents(db: Queryable, filter: EventFilter): Promise<EventPage> {
  const { status, workflow_type, before, limit } = filter;
  const { state, tried, ...tables } = status === undefined ? ANY : MEANING[status];
  const { rows } = await db.query<ListRow>(LIST, [
    before,
    workflow_type,
    state,
    tried,
    limit,
    tables.live,
    tables.ended,
  ]);
  const last = rows.at(-1);
  if (!last) return { events: [], next: null };
  const offers = await readOffers(db, rows, last.now);
  const events = rows.map((row) => toEvent(row, offers));
  return { events, next: last.found > rows.length ? last.run_id : null };
}

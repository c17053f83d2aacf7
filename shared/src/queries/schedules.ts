// Schedules: storing, reading, pausing and removing them.
import { toStorableJson } from '../contract/json.ts';
import type { Queryable } from '../db/pool.ts';
import { nextTick } from '../rules/cron.ts';
import { SCHEDULE_COLUMNS, type ScheduleFields, type ScheduleRow } from './schedule-row.ts';

const COLUMNS =
  'id, cron, timezone, catch_up, workflow_id, env, workflow_type, payload, max_attempts, priority, next_at';
const VALUES = `$1::text, $2::text, $3::text, $4::text, $5::text, $6::json, $7::text, $8::json, $9::int, $10::int,
  $11::timestamptz`;

const INSERT = `
insert into wfg_schedules as s (${COLUMNS}) values (${VALUES})
on conflict (id) do nothing
returning ${SCHEDULE_COLUMNS}`;

/** Creates the schedule; null when its id is taken. Needs a transaction. */
export async function insertSchedule(tx: Queryable, fields: ScheduleFields): Promise<ScheduleRow | null> {
  const { rows } = await tx.query<ScheduleRow>(INSERT, await values(tx, fields));
  return rows[0] ?? null;
}

// One that ticks as before keeps what is due, if it knew when it ticks: a fault may have ended its ticks.
const PUT = `
insert into wfg_schedules as s (${COLUMNS}) values (${VALUES})
on conflict (id) do update
set cron = excluded.cron, timezone = excluded.timezone, catch_up = excluded.catch_up, workflow_id = excluded.workflow_id,
    env = excluded.env, workflow_type = excluded.workflow_type, payload = excluded.payload,
    max_attempts = excluded.max_attempts, priority = excluded.priority, error = null, updated_at = wfg_now(),
    next_at = case
      when s.paused then null
      when (s.cron, s.timezone) = (excluded.cron, excluded.timezone) then coalesce(s.next_at, excluded.next_at)
      else excluded.next_at end
returning ${SCHEDULE_COLUMNS}, xmax = 0 as created`;

/** Creates or replaces the schedule, which is none of a definition's. Needs a transaction. */
export async function putSchedule(
  tx: Queryable,
  fields: ScheduleFields,
): Promise<{ created: boolean; row: ScheduleRow }> {
  const { rows } = await tx.query<ScheduleRow & { created: boolean }>(PUT, await values(tx, fields));
  const [row] = rows;
  if (!row) throw new Error('the upsert of a schedule returned no row');
  return { created: row.created, row };
}

const READ = `select ${SCHEDULE_COLUMNS} from wfg_schedules s where s.id = $1::text`;

/** Null when there is no such schedule. */
export async function readSchedule(db: Queryable, id: string): Promise<ScheduleRow | null> {
  const { rows } = await db.query<ScheduleRow>(READ, [id]);
  return rows[0] ?? null;
}

/** Of payloads and environments in a page. */
const PAGE_BYTES = 4 * 1024 * 1024;

// The page ends when it has enough bytes as well as when it has enough rows. `found` counts one row too many.
const LIST = `
select ${SCHEDULE_COLUMNS}, to_json(s.created_at) #>> '{}' as position, s.found
from (
  select s.*, count(*) over ()::int as found, sum(s.bytes) over (order by s.created_at desc, s.id) - s.bytes as before
  from (
    select s.*, octet_length(coalesce(s.payload, s.env)::text) as bytes
    from wfg_schedules s
    where $1::timestamptz is null or (s.created_at <= $1 and (s.created_at < $1 or s.id > $2::text))
    order by s.created_at desc, s.id
    limit $3::int + 1
  ) s
) s
where s.before <= $4::int
order by s.created_at desc, s.id
limit $3`;

/** The place of a schedule in the list. */
interface SchedulePosition {
  /** As the database wrote it, to the microsecond. */
  created_at: string;
  id: string;
}

/** A page of schedules, the newest first, and from where the next one goes on: null on the last. */
export async function listSchedules(
  db: Queryable,
  after: SchedulePosition | undefined,
  limit: number,
): Promise<{ schedules: ScheduleRow[]; next: SchedulePosition | null }> {
  const { rows } = await db.query<ScheduleRow & { position: string; found: number }>(LIST, [
    after?.created_at,
    after?.id,
    limit,
    PAGE_BYTES,
  ]);
  const last = rows.at(-1);
  const next = last && last.found > rows.length ? { created_at: last.position, id: last.id } : null;
  return { schedules: rows, next };
}

/** Removes the schedule with its ticks; false when there is none. */
export async function deleteSchedule(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from wfg_schedules where id = $1::text', [id]);
  return rowCount === 1;
}

const PAUSE = `
update wfg_schedules s
set updated_at = case when s.paused then s.updated_at else wfg_now() end, paused = true, next_at = null
where s.id = $1::text
returning ${SCHEDULE_COLUMNS}`;

/** What would be its ticks from now on is none. Null when there is no such schedule. */
export async function pauseSchedule(db: Queryable, id: string): Promise<ScheduleRow | null> {
  const { rows } = await db.query<ScheduleRow>(PAUSE, [id]);
  return rows[0] ?? null;
}

const LOCK = `select ${SCHEDULE_COLUMNS} from wfg_schedules s where s.id = $1::text for no key update`;

const RESUME = `
update wfg_schedules s set paused = false, next_at = $2::timestamptz, updated_at = wfg_now()
where s.id = $1::text
returning ${SCHEDULE_COLUMNS}`;

/** Goes on with the first tick from now. Null when there is no such schedule. Needs a transaction. */
export async function resumeSchedule(tx: Queryable, id: string): Promise<ScheduleRow | null> {
  const locked = await tx.query<ScheduleRow>(LOCK, [id]);
  const [row] = locked.rows;
  if (!row?.paused) return row ?? null;
  const { rows } = await tx.query<ScheduleRow>(RESUME, [id, nextTick(row, await readClock(tx))]);
  return rows[0] ?? null;
}

/** The time by which ticks are due. */
export async function readClock(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>('select wfg_now() as now');
  const [row] = rows;
  if (!row) throw new Error('the clock returned no row');
  return row.now;
}

async function values(tx: Queryable, fields: ScheduleFields): Promise<unknown[]> {
  const { id, cron, timezone, catch_up, workflow_id, env, workflow_type, payload, max_attempts, priority } =
    fields;
  return [
    id,
    cron,
    timezone,
    catch_up,
    workflow_id,
    env && toStorableJson(env),
    workflow_type,
    workflow_type === null ? null : toStorableJson(payload),
    max_attempts,
    priority,
    nextTick(fields, await readClock(tx)),
  ];
}

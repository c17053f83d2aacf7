// The ticks of schedules: finding those that are due, recording what became of them, reading and forgetting them.
import type { Tick, TickOutcome } from '../contract/schedule.ts';
import type { Queryable } from '../db/pool.ts';
import { SCHEDULE_COLUMNS, type ScheduleRow } from './schedule-row.ts';

const FIND = `
select id from wfg_schedules where next_at <= wfg_now() and id > $1::text order by id limit $2::int`;

/** Schedules with a tick that is due, behind this id, without locks. */
export async function findDueSchedules(db: Queryable, after: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(FIND, [after, limit]);
  return rows.map(({ id }) => id);
}

export interface DueSchedule extends ScheduleRow {
  next_at: Date;
  now: Date;
  /** Ticks decided before, as when the clock went back since: they are not decided again. */
  known: Date[];
}

// Whoever has the row decides its ticks, and the row moves on in the same transaction: another scheduler then finds
// that nothing is due. One that is held is passed over; it is looked at again within a second.
const LOCK = `
select ${SCHEDULE_COLUMNS}, wfg_now() as now,
  array(select t.tick_at from wfg_ticks t where t.schedule_id = s.id and t.tick_at >= s.next_at) as known
from wfg_schedules s
where s.id = $1::text and s.next_at <= wfg_now()
for no key update skip locked`;

/** Locks the schedule; null when nothing is due, or another scheduler has it. Needs a transaction. */
export async function lockDueSchedule(tx: Queryable, id: string): Promise<DueSchedule | null> {
  const { rows } = await tx.query<DueSchedule>(LOCK, [id]);
  return rows[0] ?? null;
}

export interface DecidedTick {
  tick_at: Date;
  outcome: TickOutcome;
  run_id: string | null;
  error: string | null;
}

const RECORD = `
with tick as (
  insert into wfg_ticks (schedule_id, tick_at, outcome, run_id, error)
  select $1::text, tick_at, outcome, run_id, error
  from unnest($2::timestamptz[], $3::text[], $4::uuid[], $5::text[]) as t (tick_at, outcome, run_id, error)
)
update wfg_schedules
set next_at = $6::timestamptz, last_tick_at = coalesce($7::timestamptz, last_tick_at), error = $8::text
where id = $1`;

/** Records what became of ticks, and moves the locked schedule on to the next. */
export async function recordTicks(
  tx: Queryable,
  schedule: DueSchedule,
  ticks: readonly DecidedTick[],
  next: Date | null,
): Promise<void> {
  const last = ticks.findLast(({ outcome }) => outcome !== 'missed');
  await tx.query(RECORD, [
    schedule.id,
    ticks.map(({ tick_at }) => tick_at),
    ticks.map(({ outcome }) => outcome),
    ticks.map(({ run_id }) => run_id),
    ticks.map(({ error }) => error),
    next,
    ticks.at(-1)?.tick_at,
    last ? last.error : schedule.error,
  ]);
}

const LIST = `
select tick_at, outcome, run_id, error, at from wfg_ticks
where schedule_id = $1::text and ($2::timestamptz is null or tick_at < $2)
order by tick_at desc
limit $3::int`;

/** Ticks before a time, the latest first. */
export async function listTicks(
  db: Queryable,
  scheduleId: string,
  before: string | undefined,
  limit: number,
): Promise<Tick[]> {
  const { rows } = await db.query<DecidedTick & { at: Date }>(LIST, [scheduleId, before, limit]);
  return rows.map(({ tick_at, at, ...tick }) => {
    return { tick_at: tick_at.toISOString(), ...tick, at: at.toISOString() };
  });
}

const PRUNE = `
delete from wfg_ticks
where ctid = any(array(
  select ctid from wfg_ticks where tick_at < wfg_now() - make_interval(days => $1::int) order by tick_at limit $2::int))`;

/** Forgets up to `limit` ticks that are older than so many days; returns how many. */
export async function pruneTicks(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(PRUNE, [days, limit]);
  return rowCount ?? 0;
}

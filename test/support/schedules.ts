// Schedules for tests, and what became of their ticks.
import { withTx } from '@wfg/shared/db/tx';
import type { ScheduleFields } from '@wfg/shared/queries/schedule-row';
import { insertSchedule } from '@wfg/shared/queries/schedules';
import type { Pool } from 'pg';

/** Makes a schedule that stores an event, by default `tick`, unless `given` says otherwise. */
export async function schedule(
  pool: Pool,
  id: string,
  cron: string,
  given: Partial<ScheduleFields> = {},
): Promise<void> {
  const event = { workflow_id: null, env: null, workflow_type: 'tick', payload: { from: id } };
  const fields = {
    timezone: 'UTC',
    catch_up: 'last' as const,
    ...event,
    max_attempts: 3,
    priority: 0,
    ...given,
  };
  await withTx(pool, (tx) => insertSchedule(tx, { id, cron, ...fields }));
}

/** Each decided tick of a schedule, `fired 2027-03-14T07:00`, the first one first. */
export async function ticksOf(pool: Pool, id: string): Promise<string[]> {
  const { rows } = await pool.query<{ tick: string }>(
    `select outcome || ' ' || to_char(tick_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI') as tick
     from wfg_ticks where schedule_id = $1 order by tick_at`,
    [id],
  );
  return rows.map(({ tick }) => tick);
}

/** True when every schedule has decided what is due. */
export async function isCaughtUp(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query('select from wfg_schedules where next_at <= wfg_now()');
  return rowCount === 0;
}

/** Events of schedules, by `from`: how many there are. */
export async function eventsFrom(pool: Pool, id: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from wfg_jobs where payload ->> 'from' = $1`,
    [id],
  );
  return rows[0]?.count ?? 0;
}

// The schedules that a definition asks for by its `on.schedule`: `ci:1`, `ci:2`, … in their order.
import type { DefinedSchedule } from '../contract/definition.ts';
import type { Queryable } from '../db/pool.ts';
import { nextTick } from '../rules/cron.ts';
import { readClock } from './schedules.ts';

interface Known {
  id: string;
  cron: string;
  timezone: string;
  paused: boolean;
  next_at: Date | null;
}

// In the order of their places. No scheduler moves one on, and nobody pauses one, until all are stored.
const LOCK = `
select id, cron, timezone, paused, next_at from wfg_schedules where defined_by = $1::text
order by length(id), id for no key update`;

const STORE = `
with wanted as (
  select id, cron, timezone, catch_up, paused, next_at
  from json_to_recordset($2::json)
    as w (id text, cron text, timezone text, catch_up text, paused bool, next_at timestamptz)
), gone as (
  delete from wfg_schedules s where s.defined_by = $1::text and s.id not in (select id from wanted)
)
insert into wfg_schedules as s (id, defined_by, cron, timezone, catch_up, paused, workflow_id, env, next_at)
select id, $1, cron, timezone, catch_up, paused, $1, '{}', next_at from wanted order by id
on conflict (id) do update
set cron = excluded.cron, timezone = excluded.timezone, catch_up = excluded.catch_up, paused = excluded.paused,
    next_at = excluded.next_at, updated_at = wfg_now()
where (s.cron, s.timezone, s.catch_up, s.paused, s.next_at)
  is distinct from (excluded.cron, excluded.timezone, excluded.catch_up, excluded.paused, excluded.next_at)`;

/** Makes the schedules of the stored definition what it asks for. Needs the transaction that stores it. */
export async function storeDefinedSchedules(
  tx: Queryable,
  workflowId: string,
  schedules: readonly DefinedSchedule[],
): Promise<void> {
  const { rows } = await tx.query<Known>(LOCK, [workflowId]);
  const now = await readClock(tx);
  const wanted = keepState(workflowId, schedules, rows).map(({ was, ...schedule }) => ({
    ...schedule,
    next_at: schedule.paused ? null : (was?.next_at ?? nextTick(schedule, now)),
  }));
  await tx.query(STORE, [workflowId, JSON.stringify(wanted)]);
}

/**
 * One that ticks as before is the same, wherever it stands now: it stays paused, and what is due stays due. Where one was
 * changed in its place, the new one is paused if the old one was.
 */
function keepState(workflowId: string, schedules: readonly DefinedSchedule[], known: readonly Known[]) {
  const left = [...known];
  const take = (isIt: (one: Known) => boolean): Known | undefined => {
    const index = left.findIndex(isIt);
    return index < 0 ? undefined : left.splice(index, 1)[0];
  };
  return schedules
    .map((schedule, index) => ({
      ...schedule,
      id: `${workflowId}:${index + 1}`,
      was: take(({ cron, timezone }) => cron === schedule.cron && timezone === schedule.timezone),
    }))
    .map((schedule) => ({
      ...schedule,
      paused: (schedule.was ?? take(({ id }) => id === schedule.id))?.paused ?? false,
    }));
}

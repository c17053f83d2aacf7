// The schedules that a definition asks for by its `on.schedule`: `ci:1`, `ci:2`, … in their order.
import type { DefinedSchedule } from '../contract/definition.ts';
import type { Queryable } from '../db/pool.ts';
import { nextTick } from '../rules/cron.ts';
import { readClock } from './schedules.ts';

// One that ticks as before keeps what is due, and one that is paused stays so.
const STORE = `
with wanted as (
  select id, cron, timezone, catch_up, next_at
  from json_to_recordset($2::json) as w (id text, cron text, timezone text, catch_up text, next_at timestamptz)
), gone as (
  delete from wfg_schedules s where s.defined_by = $1::text and s.id not in (select id from wanted)
)
insert into wfg_schedules as s (id, defined_by, cron, timezone, catch_up, workflow_id, env, next_at)
select id, $1, cron, timezone, catch_up, $1, '{}', next_at from wanted order by id
on conflict (id) do update
set cron = excluded.cron, timezone = excluded.timezone, catch_up = excluded.catch_up, updated_at = wfg_now(),
    next_at = case
      when s.paused then null
      when (s.cron, s.timezone) = (excluded.cron, excluded.timezone) then s.next_at
      else excluded.next_at end
where (s.cron, s.timezone, s.catch_up) is distinct from (excluded.cron, excluded.timezone, excluded.catch_up)`;

/** Makes the schedules of the stored definition what it asks for. Needs the transaction that stores it. */
export async function storeDefinedSchedules(
  tx: Queryable,
  workflowId: string,
  schedules: readonly DefinedSchedule[],
): Promise<void> {
  const now = await readClock(tx);
  const wanted = schedules.map((schedule, index) => {
    return { ...schedule, id: `${workflowId}:${index + 1}`, next_at: nextTick(schedule, now) };
  });
  await tx.query(STORE, [workflowId, JSON.stringify(wanted)]);
}

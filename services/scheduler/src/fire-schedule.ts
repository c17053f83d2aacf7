// Decides the ticks of one schedule that are due, and starts what they start.
import type { Hint } from '@wfg/shared/contract/bell';
import { WfgError } from '@wfg/shared/contract/problem';
import type { startScheduled } from '@wfg/shared/queries/start-scheduled';
import { type DecidedTick, type DueSchedule, lockDueSchedule, recordTicks } from '@wfg/shared/queries/ticks';
import { type Decision, decideTicks } from '@wfg/shared/rules/catch-up';
import { messageOf } from '@wfg/shared/rules/message-of';
import type pg from 'pg';

/** In one transaction, with runs of a large workflow: what is left is for the next. */
const LONGEST_MS = 500;

/** What was done in the transaction of a schedule. */
export interface Fired {
  ticks: DecidedTick[];
  hints: Hint[];
  /** The next tick is due as well. */
  more: boolean;
}

/**
 * Starts what is due and records it, in the transaction `tx`; a WfgError of `start` is the reason of a failed tick. Null
 * when another scheduler has it, or had it.
 */
export async function fireSchedule(
  tx: pg.PoolClient,
  id: string,
  start: typeof startScheduled,
): Promise<Fired | null> {
  const due = await lockDueSchedule(tx, id);
  if (due === null) return null;
  const { missed, fired, next, fault } = decide(due);
  const ticks = missed.map((tick_at): DecidedTick => {
    return { tick_at, outcome: 'missed', run_id: null, error: null };
  });
  const hints: Hint[] = [];
  const until = performance.now() + LONGEST_MS;
  let then = next;
  for (const [index, tick_at] of fired.entries()) {
    if (index > 0 && performance.now() > until) {
      then = tick_at;
      break;
    }
    try {
      if (fault !== null) throw fault;
      const { run_id, lanes } = await start(tx, due);
      ticks.push({ tick_at, outcome: 'fired', run_id, error: null });
      hints.push({ lanes, settle: true, runs: [run_id] });
    } catch (error) {
      if (!(error instanceof WfgError)) throw error;
      ticks.push({ tick_at, outcome: 'failed', run_id: null, error: error.message });
    }
  }
  await recordTicks(tx, due, ticks, then);
  return { ticks, hints, more: then !== null && then <= due.now };
}

/** Without the ticks that are decided already. `fault`: when it ticks cannot be told, so that this tick is its last. */
function decide(schedule: DueSchedule): Decision & { fault: WfgError | null } {
  const known = new Set(schedule.known.map(Number));
  const isNew = (tick: Date) => !known.has(Number(tick));
  try {
    const { missed, fired, next } = decideTicks(schedule, schedule.now);
    return { missed: missed.filter(isNew), fired: fired.filter(isNew), next, fault: null };
  } catch (error) {
    const fault = new WfgError('internal', messageOf(error));
    return { missed: [], fired: [schedule.next_at].filter(isNew), next: null, fault };
  }
}

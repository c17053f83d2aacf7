// One pass over the schedules that have a tick due.
import type { Hint } from '@wfg/shared/contract/bell';
import { WfgError } from '@wfg/shared/contract/problem';
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { isConnectionError, isTimeLimit } from '@wfg/shared/db/sqlstate';
import { withTx } from '@wfg/shared/db/tx';
import { startScheduled } from '@wfg/shared/queries/start-scheduled';
import {
  type DecidedTick,
  type DueSchedule,
  findDueSchedules,
  lockDueSchedule,
  recordTicks,
} from '@wfg/shared/queries/ticks';
import { type Decision, decideTicks } from '@wfg/shared/rules/catch-up';
import { messageOf } from '@wfg/shared/rules/message-of';
import { decidedTicks } from '@wfg/shared/runtime/counters';
import type pg from 'pg';
import type { Logger } from 'pino';

const BATCH = 100;
/** In one transaction, with runs of a large workflow: what is left is for the next. */
const LONGEST_MS = 500;
/** Characters. */
const LONGEST_REASON = 1_000;

/** What was done in the transaction of a schedule. */
interface Fired {
  ticks: DecidedTick[];
  hints: Hint[];
  /** The next tick is due as well. */
  more: boolean;
}

/**
 * Starts what is due, each schedule in a transaction of its own, and rings for it. True if more is due at once. What
 * cannot be started is a failed tick with its reason, and keeps no other schedule waiting.
 */
export async function fireSchedules(pool: pg.Pool, doorbell: Doorbell, log: Logger): Promise<boolean> {
  let more = false;
  for (let after = ''; ; ) {
    const due = await findDueSchedules(pool, after, BATCH);
    const last = due.at(-1);
    if (last === undefined) return more;
    after = last;
    for (const id of due) {
      const fired = await fireOne(id);
      if (fired === null) continue;
      for (const hint of fired.hints) doorbell.ring(hint);
      report(id, fired.ticks);
      more ||= fired.more;
    }
  }

  async function fireOne(id: string): Promise<Fired | null> {
    const error = await attempt(id, startScheduled);
    if (!(error instanceof Error)) return error;
    const again = await attempt(id, () => Promise.reject(reasonOf(error.message)));
    return again instanceof Error ? null : again;
  }

  /** The error, unless it says that the database is away; what is still due then is found again within a second. */
  async function attempt(id: string, start: typeof startScheduled): Promise<Fired | null | Error> {
    try {
      return await withTx(pool, (tx) => fire(tx, id, start));
    } catch (error) {
      if (isConnectionError(error)) throw error;
      log.error({ err: error, schedule_id: id }, 'a schedule cannot be fired');
      // A lock that others hold is no reason for a failed tick.
      if (isTimeLimit(error)) return null;
      return error instanceof Error ? error : new Error(messageOf(error));
    }
  }

  function report(schedule_id: string, ticks: readonly DecidedTick[]): void {
    for (const { tick_at, outcome, run_id, error } of ticks) {
      decidedTicks.inc({ outcome });
      if (outcome === 'fired') log.info({ schedule_id, tick_at, run_id }, 'schedule fired');
      if (outcome === 'failed') log.warn({ schedule_id, tick_at, error }, 'tick failed');
    }
    const missed = ticks.filter(({ outcome }) => outcome === 'missed');
    const [first] = missed;
    if (first) log.warn({ schedule_id, from: first.tick_at, ticks: missed.length }, 'ticks missed');
  }
}

/** What was not foreseen, as the reason of a failed tick. */
function reasonOf(message: string): WfgError {
  return new WfgError('internal', message.slice(0, LONGEST_REASON));
}

/** Null when another scheduler has it, or had it. */
async function fire(tx: pg.PoolClient, id: string, start: typeof startScheduled): Promise<Fired | null> {
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
    const fault = reasonOf(messageOf(error));
    return { missed: [], fired: [schedule.next_at].filter(isNew), next: null, fault };
  }
}

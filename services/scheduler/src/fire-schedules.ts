// One pass over the schedules that have a tick due.
import { WfgError } from '@wfg/shared/contract/problem';
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { errorCode, isConnectionError, SQLSTATE } from '@wfg/shared/db/sqlstate';
import { withTx } from '@wfg/shared/db/tx';
import { startScheduled } from '@wfg/shared/queries/start-scheduled';
import { type DecidedTick, findDueSchedules } from '@wfg/shared/queries/ticks';
import { messageOf } from '@wfg/shared/rules/message-of';
import { decidedTicks } from '@wfg/shared/runtime/counters';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Fired, fireSchedule } from './fire-schedule.ts';

const BATCH = 100;
/** For what someone else holds locked: the other schedules wait meanwhile. */
const LOCK_MS = 1_000;
/** Characters. */
const LONGEST_REASON = 1_000;

/**
 * Starts what is due, each schedule in a transaction of its own, and rings for it. True if more is due at once. What
 * cannot be started is a failed tick with its reason, and keeps no other schedule waiting.
 */
export async function fireSchedules(
  pool: pg.Pool,
  doorbell: Doorbell,
  log: Logger,
  stopping: AbortSignal,
): Promise<boolean> {
  let more = false;
  for (let after = ''; ; ) {
    const due = await findDueSchedules(pool, after, BATCH);
    const last = due.at(-1);
    if (last === undefined) return more;
    after = last;
    for (const id of due) {
      if (stopping.aborted) return more;
      const fired = await fireOne(id);
      if (fired === null) continue;
      for (const hint of fired.hints) doorbell.ring(hint);
      report(id, fired.ticks);
      more ||= fired.more;
    }
  }

  async function fireOne(id: string): Promise<Fired | null> {
    let fault: unknown = null;
    const error = await attempt(id, (...given) =>
      startScheduled(...given).catch((reason: unknown) => {
        fault = reason;
        throw reason;
      }),
    );
    if (!(error instanceof Error)) return error;
    // It could be started and not be recorded: that is undone, and tried again by the next pass.
    if (error !== fault) return null;
    const again = await attempt(id, () => Promise.reject(reasonOf(error)));
    return again instanceof Error ? null : again;
  }

  /** The error, unless it says that the database is away; what is still due then is found again within a second. */
  async function attempt(id: string, start: typeof startScheduled): Promise<Fired | null | Error> {
    try {
      return await withTx(pool, (tx) => fireSchedule(tx, id, start), { lockMs: LOCK_MS });
    } catch (error) {
      if (isConnectionError(error)) throw error;
      log.error({ err: error, schedule_id: id }, 'a schedule cannot be fired');
      // A lock that others hold is no reason for a failed tick.
      if (errorCode(error) === SQLSTATE.lockNotAvailable) return null;
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
function reasonOf({ message }: Error): WfgError {
  return new WfgError('internal', message.slice(0, LONGEST_REASON));
}

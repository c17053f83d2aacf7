// Applies retention: runs and logs are kept for so many whole days.
import { isTimeLimit } from '@wfg/shared/db/sqlstate';
import { type DailyTable, deleteOldRuns, dropDay } from '@wfg/shared/queries/retention';
import type pg from 'pg';
import type { Logger } from 'pino';

export interface Retention {
  RETENTION_RUNS_DAYS: number;
  RETENTION_LOGS_DAYS: number;
}

/** In one transaction. */
const RUNS = 5_000;

/** Removes what is past its time; false if some of it is in use, and is to be tried again soon. */
export async function applyRetention(pool: pg.Pool, config: Retention, log: Logger): Promise<boolean> {
  const { RETENTION_RUNS_DAYS: runs, RETENTION_LOGS_DAYS: logs } = config;
  // Logs first, so that none is kept that no attempt leads to.
  const dropped = [
    await dropDays(pool, 'wfg_logs', logs, log),
    await dropDays(pool, 'wfg_attempts', runs, log),
    await dropDays(pool, 'wfg_history', runs, log),
  ];
  for (let deleted = RUNS; deleted === RUNS; ) {
    deleted = await deleteOldRuns(pool, runs, RUNS);
    if (deleted > 0) log.info({ runs: deleted }, 'runs past retention removed');
  }
  return !dropped.includes(false);
}

/** False if the table is in use. */
async function dropDays(pool: pg.Pool, table: DailyTable, days: number, log: Logger): Promise<boolean> {
  try {
    for (let day = await dropDay(pool, table, days); day !== null; day = await dropDay(pool, table, days))
      log.info({ table, day }, 'day past retention dropped');
    return true;
  } catch (error) {
    if (!isTimeLimit(error)) throw error;
    log.info({ table }, 'a day past retention is in use: it is dropped later');
    return false;
  }
}

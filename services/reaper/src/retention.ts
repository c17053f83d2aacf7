// Applies retention: runs and logs are kept for so many whole days.
import { isTimeLimit } from '@wfg/shared/db/sqlstate';
import { type DailyTable, deleteOldRuns, dropDay } from '@wfg/shared/queries/retention';
import { inTurn } from '@wfg/shared/runtime/in-turn';
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
  const dropped: boolean[] = [];
  await inTurn([
    // Logs first, so that none is kept that no attempt leads to.
    async () => void dropped.push(await dropDays(pool, 'wfg_logs', logs, log)),
    async () => void dropped.push(await dropDays(pool, 'wfg_attempts', runs, log)),
    async () => void dropped.push(await dropDays(pool, 'wfg_history', runs, log)),
    () => deleteRuns(pool, runs, log),
  ]);
  return !dropped.includes(false);
}

async function deleteRuns(pool: pg.Pool, days: number, log: Logger): Promise<void> {
  for (let deleted = RUNS; deleted === RUNS; ) {
    deleted = await deleteOldRuns(pool, days, RUNS);
    if (deleted > 0) log.info({ runs: deleted }, 'runs past retention removed');
  }
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

// One pass of the reaper: a look at what there is to do, and then that.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { expireJobs, timeOutRuns } from '@wfg/shared/queries/expire';
import { lookForOverdue } from '@wfg/shared/queries/overdue';
import { hintOf, reapExpired } from '@wfg/shared/queries/reap';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { expiredJobs, expiredLeases, timedOutRuns } from '@wfg/shared/runtime/counters';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Counting } from './counting.ts';

const BATCH = 500;

export interface Sweep {
  pool: pg.Pool;
  doorbell: Doorbell;
  log: Logger;
  counting: Counting;
  /** Until the next look, at most. */
  intervalSecs: number;
}

/** Does what is due; true if there may be more of it at once. */
export async function sweep(own: Sweep): Promise<boolean> {
  const found = await lookForOverdue(own.pool, own.intervalSecs);
  if (found.resumed) own.log.warn('after an outage each lease lasts its own time once more');
  const counts = [
    found.leases ? await takeBack(own) : 0,
    found.waiting ? await endLateJobs(own) : 0,
    found.runs ? await endLateRuns(own) : 0,
  ];
  own.counting.see(found);
  return counts.includes(BATCH);
}

/** Leases that ran out. */
async function takeBack({ pool, doorbell, log }: Sweep): Promise<number> {
  const reaped = await withPartitions(pool, () => reapExpired(pool, BATCH));
  for (const { run_id, job_id, attempt, worker_id, state } of reaped)
    log.warn({ run_id, job_id, attempt, worker_id, state }, 'lease expired');
  if (reaped.length > 0) doorbell.ring(hintOf(reaped));
  expiredLeases.inc(reaped.length);
  return reaped.length;
}

/** Jobs that waited too long for their first attempt. */
async function endLateJobs({ pool, doorbell, log }: Sweep): Promise<number> {
  const expired = await expireJobs(pool, BATCH);
  for (const job of expired) log.warn(job, 'job expired: no worker began it in time');
  const runs = [...new Set(expired.map(({ run_id }) => run_id))];
  if (runs.length > 0) doorbell.ring({ settle: true, runs });
  expiredJobs.inc(expired.length);
  return expired.length;
}

/** Runs whose time is over. */
async function endLateRuns({ pool, doorbell, log }: Sweep): Promise<number> {
  const runs = await timeOutRuns(pool, BATCH);
  for (const run_id of runs) log.warn({ run_id }, 'run out of time');
  if (runs.length > 0) doorbell.ring({ settle: true, runs });
  timedOutRuns.inc(runs.length);
  return runs.length;
}

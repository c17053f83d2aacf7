// What is done about leases, jobs and runs whose time is over.
import type { JobKey } from '@wfg/shared/contract/job-key';
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { expireJobs, findLateJobs, findLateRuns, timeOutRuns } from '@wfg/shared/queries/expire';
import { findExpired, hintOf, reapExpired } from '@wfg/shared/queries/reap';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { expiredJobs, expiredLeases, timedOutRuns } from '@wfg/shared/runtime/counters';
import type pg from 'pg';
import type { Logger } from 'pino';
import { takeDue } from './take-due.ts';

export interface Means {
  pool: pg.Pool;
  doorbell: Doorbell;
  log: Logger;
}

/** Takes back leases that ran out. */
export async function takeBackLeases({ pool, doorbell, log }: Means): Promise<void> {
  await takeDue({
    find: (limit, after: JobKey | null) => findExpired(pool, limit, after),
    take: (limit, only) => withPartitions(pool, () => reapExpired(pool, limit, only)),
    settle(reaped) {
      for (const { run_id, job_id, attempt, worker_id, state } of reaped)
        log.warn({ run_id, job_id, attempt, worker_id, state }, 'lease expired');
      if (reaped.length > 0) doorbell.ring(hintOf(reaped));
      expiredLeases.inc(reaped.length);
    },
    log,
    fault: 'an expired lease cannot be taken back',
  });
}

/** Ends jobs that waited too long for their first attempt. */
export async function endLateJobs({ pool, doorbell, log }: Means): Promise<void> {
  await takeDue({
    find: (limit, after: JobKey | null) => findLateJobs(pool, limit, after),
    take: (limit, only) => expireJobs(pool, limit, only),
    settle(expired) {
      for (const job of expired) log.warn(job, 'job expired: no worker began it in time');
      const runs = [...new Set(expired.map(({ run_id }) => run_id))];
      if (runs.length > 0) doorbell.ring({ settle: true, runs });
      expiredJobs.inc(expired.length);
    },
    log,
    fault: 'a job that expired cannot be ended',
  });
}

/** Ends the time of runs that have none left. */
export async function endLateRuns({ pool, doorbell, log }: Means): Promise<void> {
  await takeDue({
    find: (limit, after: string | null) => findLateRuns(pool, limit, after),
    take: (limit, only) => timeOutRuns(pool, limit, only),
    settle(runs) {
      for (const run_id of runs) log.warn({ run_id }, 'run out of time');
      if (runs.length > 0) doorbell.ring({ settle: true, runs: [...runs] });
      timedOutRuns.inc(runs.length);
    },
    log,
    fault: 'the time of a run cannot be ended',
  });
}

// One pass of the reaper: leases that ran out, then workers silent for a day.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { hintOf, reapExpired } from '@wfg/shared/queries/reap';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { pruneWorkers } from '@wfg/shared/queries/workers';
import type pg from 'pg';
import type { Logger } from 'pino';

const BATCH = 500;

/** Takes back what expired and forgets workers long gone; true if there may be more to take back at once. */
export async function sweep(pool: pg.Pool, doorbell: Doorbell, log: Logger): Promise<boolean> {
  const reaped = await withPartitions(pool, () => reapExpired(pool, BATCH));
  for (const { run_id, job_id, attempt, worker_id, state } of reaped)
    log.warn({ run_id, job_id, attempt, worker_id, state }, 'lease expired');
  if (reaped.length > 0) doorbell.ring(hintOf(reaped));
  for (const worker_id of await pruneWorkers(pool))
    log.info({ worker_id }, 'worker forgotten: silent for a day');
  return reaped.length === BATCH;
}

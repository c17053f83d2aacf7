// Does what a reaper does, once.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import type { Pool } from 'pg';
import { type Logger, pino } from 'pino';
import { startCounting } from '../../services/reaper/src/counting.ts';
import { endLateJobs, endLateRuns, type Means, takeBackLeases } from '../../services/reaper/src/overdue.ts';
import { sweep } from '../../services/reaper/src/sweep.ts';

/** A look of the reaper, and what it begins, until that is done. */
export async function reap(pool: Pool, log: Logger = pino({ level: 'silent' })): Promise<void> {
  await using doorbell = createDoorbell(pool, log);
  await using counting = startCounting(pool, log);
  const begun: Promise<void>[] = [];
  const beginning = (work: (means: Means) => Promise<void>) => () => {
    begun.push(work({ pool, doorbell, log }));
  };
  const begin = {
    leases: beginning(takeBackLeases),
    jobs: beginning(endLateJobs),
    runs: beginning(endLateRuns),
  };
  await sweep({ pool, log, intervalSecs: 5, begin, counting });
  await Promise.all(begun);
}

// Wires the reaper's loops: a look at what is overdue every few seconds, what is then to be done, what grows old every hour,
// and counting.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { jitter } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Service, Start } from '@wfg/shared/runtime/run-service';
import { servicePool } from '@wfg/shared/runtime/service-pool';
import { startCounting } from './counting.ts';
import { keepHouse, type Left } from './housekeeping.ts';
import { endLateJobs, endLateRuns, type Means, takeBackLeases } from './overdue.ts';
import type { Retention } from './retention.ts';
import { sweep } from './sweep.ts';

const POOL_SIZE = 3;
/** Until the next housekeeping. */
const PAUSE_MS: Record<Left, number> = { nothing: 3_600_000, more: 0, 'in use': 60_000 };

interface Config extends Retention {
  DATABASE_URL: string;
  REAP_INTERVAL_SECS: number;
}

/** Starts all loops; disposal ends them. */
export async function startReaper({ config, log, ...starting }: Start<Config>): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const pool = await servicePool(
    stack,
    { url: config.DATABASE_URL, name: 'reaper', max: POOL_SIZE, log },
    starting,
  );
  const doorbell = stack.use(createDoorbell(pool, log));
  const counting = stack.use(startCounting(pool, log));
  const means: Means = { pool, doorbell, log };
  // Woken by the sweep.
  const onDemand = (name: string, work: (its: Means) => Promise<void>) =>
    stack.use(
      startLoop({
        name,
        log,
        async step() {
          await work(means);
          return Number.POSITIVE_INFINITY;
        },
      }),
    );
  const leases = onDemand('leases', takeBackLeases);
  const jobs = onDemand('late-jobs', endLateJobs);
  const runs = onDemand('late-runs', endLateRuns);
  const begin = { leases: leases.wake, jobs: jobs.wake, runs: runs.wake };
  const intervalSecs = config.REAP_INTERVAL_SECS;
  const sweeping = stack.use(
    startLoop({
      name: 'sweep',
      log,
      async step() {
        await sweep({ pool, log, intervalSecs, begin, counting });
        return jitter(intervalSecs * 1000);
      },
    }),
  );
  const housekeeping = stack.use(
    startLoop({
      name: 'housekeeping',
      log,
      step: async () => jitter(PAUSE_MS[await keepHouse(pool, config, log)]),
    }),
  );
  const loops = [sweeping, leases, jobs, runs, housekeeping, counting];
  const owned = stack.move();
  return {
    reasons: () => loops.map((loop) => loop.problem()).filter((reason) => reason !== null),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

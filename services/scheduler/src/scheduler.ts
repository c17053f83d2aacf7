// Wires the scheduler's loops: advance runs, fire schedules, carry out operations, watch for what is due, ring the beat.
import type { Bell } from '@wfg/shared/contract/bell';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { listen } from '@wfg/shared/db/listen';
import { jitter } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Service, Start } from '@wfg/shared/runtime/run-service';
import { servicePool } from '@wfg/shared/runtime/service-pool';
import { advanceRuns, nothingPassed } from './advance-runs.ts';
import { fireSchedules } from './fire-schedules.ts';
import { lookAround } from './sentinel.ts';
import { workOperations } from './work-operations.ts';

const BEAT_MS = 5_000;
const POOL_SIZE = 3;

interface Config {
  DATABASE_URL: string;
  DATABASE_DIRECT_URL: string;
}

/** Starts all loops; disposal ends them in reverse order. */
export async function startScheduler({ config, log, ...starting }: Start<Config>): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const pool = await servicePool(
    stack,
    { url: config.DATABASE_URL, name: 'scheduler', max: POOL_SIZE, log },
    starting,
  );
  const doorbell = stack.use(createDoorbell(pool, log));

  const passed = nothingPassed();
  const advance = stack.use(
    startLoop({
      name: 'advance',
      log,
      // Unasked it is woken by the sentinel.
      step: async () => (await advanceRuns(pool, doorbell, log, passed)) ?? Number.POSITIVE_INFINITY,
    }),
  );
  const schedules = stack.use(
    startLoop({
      name: 'schedules',
      log,
      step: async (ending) =>
        (await fireSchedules(pool, doorbell, log, ending)) ? 0 : Number.POSITIVE_INFINITY,
    }),
  );
  const operations = stack.use(
    startLoop({
      name: 'operations',
      log,
      step: async (ending) => {
        await workOperations(pool, doorbell, log, ending);
        return Number.POSITIVE_INFINITY;
      },
    }),
  );
  const sentinel = stack.use(
    startLoop({
      name: 'sentinel',
      log,
      step: () =>
        lookAround(pool, doorbell, { advance: advance.wake, fire: schedules.wake, operate: operations.wake }),
    }),
  );
  stack.use(
    startLoop({
      name: 'beat',
      log,
      step: async () => {
        doorbell.ring({ beat: true });
        return jitter(BEAT_MS);
      },
    }),
  );
  const hearing = stack.use(
    listen({
      url: config.DATABASE_DIRECT_URL,
      name: 'scheduler',
      log,
      onBell: (bell: Bell) => {
        if (bell.settle || bell.cancel || bell.all) advance.wake();
      },
      onResync: () => advance.wake(),
    }),
  );

  const owned = stack.move();
  return {
    reasons: () =>
      [
        hearing.deafReason(),
        advance.problem(),
        schedules.problem(),
        operations.problem(),
        sentinel.problem(),
      ].filter((reason) => reason !== null),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

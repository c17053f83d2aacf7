// Wires the reaper's two loops: leases and workers every few seconds, partitions every hour.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { assertSchema } from '@wfg/shared/db/assert-schema';
import { createPool } from '@wfg/shared/db/pool';
import { ensurePartitions } from '@wfg/shared/queries/partitions';
import { jitter } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Service, Start } from '@wfg/shared/runtime/run-service';
import { sweep } from './sweep.ts';

const PARTITIONS_MS = 3_600_000;

interface Config {
  DATABASE_URL: string;
  REAP_INTERVAL_SECS: number;
}

/** Starts both loops; disposal ends them. */
export async function startReaper({ config, log }: Start<Config>): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const pool = createPool({ url: config.DATABASE_URL, name: 'reaper', log });
  stack.defer(() => pool.end());
  await assertSchema(pool);
  const doorbell = stack.use(createDoorbell(pool, log));
  let failing: string | null = null;
  stack.use(
    startLoop({
      name: 'sweep',
      log,
      step: async () => {
        failing = 'sweep: the last pass failed';
        const more = await sweep(pool, doorbell, log);
        failing = null;
        return more ? 0 : jitter(config.REAP_INTERVAL_SECS * 1000);
      },
    }),
  );
  stack.use(
    startLoop({
      name: 'partitions',
      log,
      step: async () => {
        const made = await ensurePartitions(pool);
        if (made > 0) log.info({ made }, 'partitions made');
        return jitter(PARTITIONS_MS);
      },
    }),
  );
  const owned = stack.move();
  return {
    reasons: () => (failing === null ? [] : [failing]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

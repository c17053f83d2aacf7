// Wires the reaper's two loops: leases and workers every few seconds, partitions every hour.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { ensurePartitions } from '@wfg/shared/queries/partitions';
import { jitter } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Service, Start } from '@wfg/shared/runtime/run-service';
import { servicePool } from '@wfg/shared/runtime/service-pool';
import { sweep } from './sweep.ts';

const PARTITIONS_MS = 3_600_000;

interface Config {
  DATABASE_URL: string;
  REAP_INTERVAL_SECS: number;
}

/** Starts both loops; disposal ends them. */
export async function startReaper({ config, log, stopping }: Start<Config>): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const pool = await servicePool(stack, { url: config.DATABASE_URL, name: 'reaper', log }, stopping);
  const doorbell = stack.use(createDoorbell(pool, log));
  const sweeping = stack.use(
    startLoop({
      name: 'sweep',
      log,
      step: async () => {
        const more = await sweep(pool, doorbell, log);
        return more ? 0 : jitter(config.REAP_INTERVAL_SECS * 1000);
      },
    }),
  );
  const partitioning = stack.use(
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
    reasons: () => [sweeping.problem(), partitioning.problem()].filter((reason) => reason !== null),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

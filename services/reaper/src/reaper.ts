// Wires the reaper's loops: what is overdue every few seconds, what grows old every hour, and counting.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { forgetDeclarations } from '@wfg/shared/queries/handlers';
import { ensurePartitions } from '@wfg/shared/queries/partitions';
import { pruneKeys } from '@wfg/shared/queries/keys';
import { pruneAudit } from '@wfg/shared/queries/operations';
import { pruneTicks } from '@wfg/shared/queries/ticks';
import { pruneWorkers } from '@wfg/shared/queries/workers';
import { TICK_DAYS } from '@wfg/shared/rules/catch-up';
import { jitter } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Service, Start } from '@wfg/shared/runtime/run-service';
import { servicePool } from '@wfg/shared/runtime/service-pool';
import { startCounting } from './counting.ts';
import { applyRetention, type Retention } from './retention.ts';
import { sweep } from './sweep.ts';

const HOUSEKEEPING_MS = 3_600_000;
/** Until what was in use is tried again. */
const IN_USE_MS = 60_000;
/** Keys, ticks or notes removed in one transaction. */
const OLD = 5_000;

interface Config extends Retention {
  DATABASE_URL: string;
  REAP_INTERVAL_SECS: number;
}

/** Starts all loops; disposal ends them. */
export async function startReaper({ config, log, ...starting }: Start<Config>): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const pool = await servicePool(stack, { url: config.DATABASE_URL, name: 'reaper', log }, starting);
  const doorbell = stack.use(createDoorbell(pool, log));
  const counting = stack.use(startCounting(pool, log));
  const sweeping = stack.use(
    startLoop({
      name: 'sweep',
      log,
      step: async () => {
        const more = await sweep({ pool, doorbell, log, counting, intervalSecs: config.REAP_INTERVAL_SECS });
        return more ? 0 : jitter(config.REAP_INTERVAL_SECS * 1000);
      },
    }),
  );
  const housekeeping = stack.use(
    startLoop({
      name: 'housekeeping',
      log,
      step: async () => {
        const made = await ensurePartitions(pool);
        if (made > 0) log.info({ made }, 'partitions made');
        for (const worker_id of await pruneWorkers(pool))
          log.info({ worker_id }, 'worker forgotten: silent for a day');
        await forgetDeclarations(pool);
        const isAllGone = await applyRetention(pool, config, log);
        const removed = [
          await pruneKeys(pool, OLD),
          await pruneTicks(pool, TICK_DAYS, OLD),
          await pruneAudit(pool, config.RETENTION_RUNS_DAYS, OLD),
        ];
        if (removed.includes(OLD)) return 0;
        return jitter(isAllGone ? HOUSEKEEPING_MS : IN_USE_MS);
      },
    }),
  );
  const owned = stack.move();
  return {
    reasons: () => [sweeping.problem(), housekeeping.problem()].filter((reason) => reason !== null),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

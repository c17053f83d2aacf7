// What is done every hour: keeping partitions, and forgetting what is old.
import { forgetDeclarations } from '@wfg/shared/queries/handlers';
import { pruneKeys } from '@wfg/shared/queries/keys';
import { pruneAudit } from '@wfg/shared/queries/operations';
import { ensurePartitions } from '@wfg/shared/queries/partitions';
import { pruneTicks } from '@wfg/shared/queries/ticks';
import { pruneWorkers } from '@wfg/shared/queries/workers';
import { TICK_DAYS } from '@wfg/shared/rules/catch-up';
import { inTurn } from '@wfg/shared/runtime/in-turn';
import type pg from 'pg';
import type { Logger } from 'pino';
import { applyRetention, type Retention } from './retention.ts';

/** Keys, ticks or notes removed in one transaction. */
const OLD = 5_000;

/** What is left to do: nothing until the next hour, more at once, or what is in use now. */
export type Left = 'nothing' | 'more' | 'in use';

/** Does all of it, whatever of it fails. */
export async function keepHouse(pool: pg.Pool, config: Retention, log: Logger): Promise<Left> {
  const removed: number[] = [];
  let isAllGone = true;
  await inTurn([
    async () => {
      const made = await ensurePartitions(pool);
      if (made > 0) log.info({ made }, 'partitions made');
    },
    async () => {
      for (const worker_id of await pruneWorkers(pool))
        log.info({ worker_id }, 'worker forgotten: silent for a day');
    },
    () => forgetDeclarations(pool),
    async () => void (isAllGone = await applyRetention(pool, config, log)),
    async () => void removed.push(await pruneKeys(pool, OLD)),
    async () => void removed.push(await pruneTicks(pool, TICK_DAYS, OLD)),
    async () => void removed.push(await pruneAudit(pool, config.RETENTION_RUNS_DAYS, OLD)),
  ]);
  if (removed.includes(OLD)) return 'more';
  return isAllGone ? 'nothing' : 'in use';
}

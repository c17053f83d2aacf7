// Gives up the attempts of a process that died under this worker, so that nobody waits for their leases to run out.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { hintOf, type Reaped, type Surrendered, surrenderLeases } from '@wfg/shared/queries/reap';
import { retryPause } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { BegunAttempt } from './host/protocol.ts';
import { tellFailure } from './progress.ts';
import { sendBatch } from './send-batch.ts';

const IDLE_MS = 60_000;
/** Between two tries at what someone else holds locked, at most. */
const LONGEST_BUSY_MS = 1_000;

export type DeadAttempt = BegunAttempt & Surrendered;

export interface Surrenderer extends AsyncDisposable {
  /** Resolves when the database has taken them back, however long it is away. `reason` is why those without an error are lost. */
  give: (attempts: readonly DeadAttempt[], reason: string) => Promise<void>;
  /** Why they cannot be given up, for /ready; null if they can. */
  problem: () => string | null;
}

interface Gift extends PromiseWithResolvers<void> {
  /** Those that have no answer yet. */
  left: Set<DeadAttempt>;
  reason: string;
}

/** One that is held locked by someone else keeps no other waiting: it is tried again until it has its answer. */
export function createSurrenderer(pool: pg.Pool, doorbell: Doorbell, log: Logger): Surrenderer {
  const gifts = new Set<Gift>();
  let busyTimes = 0;
  const loop = startLoop({ name: 'surrender', log, step: giveAll });

  async function giveAll(): Promise<number> {
    const failures: unknown[] = [];
    for (const gift of gifts) {
      await give(gift).catch((error: unknown) => failures.push(error));
      if (gift.left.size > 0) continue;
      gifts.delete(gift);
      gift.resolve();
    }
    if (failures.length > 0) throw failures[0];
    busyTimes = gifts.size > 0 ? busyTimes + 1 : 0;
    return gifts.size > 0 ? retryPause(busyTimes, LONGEST_BUSY_MS) : IDLE_MS;
  }

  async function give({ left, reason }: Gift): Promise<void> {
    await sendBatch([...left], {
      async send(batch) {
        const { taken, busy } = await withPartitions(pool, () => surrenderLeases(pool, batch, reason));
        if (taken.length > 0) doorbell.ring(hintOf(taken));
        tell(taken, batch, reason);
        return batch.map((dead) => busy.includes(dead));
      },
      settle: (dead, isBusy) => isBusy || left.delete(dead),
      refuse(dead, error) {
        log.error(
          { err: error, run_id: dead.run_id },
          'an attempt cannot be given up: its lease will run out',
        );
        left.delete(dead);
      },
    });
  }

  function tell(taken: readonly Reaped[], batch: readonly DeadAttempt[], reason: string): void {
    for (const { run_id, position, state } of taken) {
      const dead = batch.find((one) => one.run_id === run_id && one.position === position);
      if (dead) tellFailure(log, dead, dead.error ?? reason, state);
    }
  }

  return {
    async give(attempts, reason) {
      if (attempts.length === 0) return;
      const gift = { left: new Set(attempts), reason, ...Promise.withResolvers<void>() };
      gifts.add(gift);
      loop.wake();
      await gift.promise;
    },
    problem: loop.problem,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

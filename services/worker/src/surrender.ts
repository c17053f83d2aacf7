// Gives up the attempts of a process that died under this worker, so that nobody waits for their leases to run out.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { hintOf, type Surrendered, surrenderLeases } from '@wfg/shared/queries/reap';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { BegunAttempt } from './host/protocol.ts';
import { tellFailure } from './progress.ts';

const IDLE_MS = 60_000;

export type DeadAttempt = BegunAttempt & Surrendered;

export interface Surrenderer extends AsyncDisposable {
  /** Resolves when the database has taken them back, however long it is away. `reason` is why those without an error are lost. */
  give: (attempts: readonly DeadAttempt[], reason: string) => Promise<void>;
  /** Why they cannot be given up, for /ready; null if they can. */
  problem: () => string | null;
}

interface Gift extends PromiseWithResolvers<void> {
  attempts: readonly DeadAttempt[];
  reason: string;
}

export function createSurrenderer(pool: pg.Pool, doorbell: Doorbell, log: Logger): Surrenderer {
  const gifts: Gift[] = [];
  const loop = startLoop({ name: 'surrender', log, step: giveNext });

  async function giveNext(): Promise<number> {
    const [gift] = gifts;
    if (!gift) return IDLE_MS;
    const { attempts, reason } = gift;
    const taken = await withPartitions(pool, () => surrenderLeases(pool, attempts, reason));
    if (taken.length > 0) doorbell.ring(hintOf(taken));
    for (const { run_id, position, state } of taken) {
      const dead = attempts.find((one) => one.run_id === run_id && one.position === position);
      if (dead) tellFailure(log, dead, dead.error ?? reason, state);
    }
    gifts.shift();
    gift.resolve();
    return 0;
  }

  return {
    async give(attempts, reason) {
      if (attempts.length === 0) return;
      const gift = { attempts, reason, ...Promise.withResolvers<void>() };
      gifts.push(gift);
      loop.wake();
      await gift.promise;
    },
    problem: loop.problem,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

// Keeps this worker's row in wfg_workers: entered at the start, a beat every 10 s, removed at an orderly end.
import { toStorableText } from '@wfg/shared/contract/json';
import {
  BEAT_SECS,
  type WorkerCard,
  beatWorker,
  deregisterWorker,
  registerWorker,
} from '@wfg/shared/queries/workers';
import { jitter } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';

/** Characters. */
const LONGEST_PROBLEM = 2_000;

interface Registry extends AsyncDisposable {
  /** Shows the worker as draining from now on. */
  drain: () => void;
  /** Shows the worker with these modules, each by the labels of what it handles, from now on, and with what is wrong now. */
  offer: (modules: WorkerCard['modules']) => void;
  /** Why beats do not arrive, for /ready; null while they do. */
  reason: () => string | null;
}

/**
 * Enters the worker as soon as the database can be reached, and keeps its beat. `reasons` says why it cannot run what it
 * should.
 */
export function startRegistry(
  pool: pg.Pool,
  log: Logger,
  own: Omit<WorkerCard, 'modules' | 'problem'>,
  reasons: () => readonly string[],
): Registry {
  const card: WorkerCard = { ...own, modules: [], problem: null };
  let entered = false;
  let draining = false;
  let beatAt = performance.now();
  const loop = startLoop({
    name: 'beat',
    log,
    step: async () => {
      card.problem = toStorableText(reasons().join('; ').slice(0, LONGEST_PROBLEM)) || null;
      // A beat that finds no row: it was removed by hand, or another start under this name is gone again.
      entered &&= await beatWorker(pool, card, draining);
      if (!entered) await registerWorker(pool, card);
      entered = true;
      beatAt = performance.now();
      return jitter(BEAT_SECS * 1000);
    },
  });
  return {
    drain() {
      draining = true;
      loop.wake();
    },
    offer(modules) {
      card.modules = modules;
      loop.wake();
    },
    reason() {
      const silentSecs = Math.floor((performance.now() - beatAt) / 1000);
      return silentSecs > 2 * BEAT_SECS ? `database: no beat for ${silentSecs} s` : null;
    },
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      await deregisterWorker(pool, card.worker_id, card.instance).catch((error: unknown) =>
        log.debug({ err: error }, 'not deregistered: the reaper marks it offline'),
      );
    },
  };
}

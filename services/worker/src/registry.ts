// Keeps this worker's row in wfg_workers: entered at the start, a beat every 10 s, removed at an orderly end.
import { toStorableText } from '@wfg/shared/contract/json';
import {
  BEAT_SECS,
  type WorkerCard,
  beatWorker,
  deregisterWorker,
  registerWorker,
} from '@wfg/shared/queries/workers';
import type { Peer } from '@wfg/shared/rules/chosen';
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
  /** The workers that listen, this one with them, by its last beat; none before that. */
  peers: () => readonly Peer[];
  /** Why beats do not arrive, for /ready; null while they do. */
  reason: () => string | null;
}

/**
 * Enters the worker as soon as the database can be reached, and keeps its beat. `reasons` says why it cannot run what it
 * should. `onOffered` is called when the row says what it did not before: until then nobody rang for it.
 */
export function startRegistry(
  pool: pg.Pool,
  log: Logger,
  own: Omit<WorkerCard, 'modules' | 'problem'>,
  reasons: () => readonly string[],
  onOffered: () => void,
): Registry {
  const card: WorkerCard = { ...own, modules: [], problem: null };
  let entered = false;
  let peers: readonly Peer[] = [];
  let offered: WorkerCard['modules'] | null = null;
  let draining = false;
  let beatAt = performance.now();
  const loop = startLoop({
    name: 'beat',
    log,
    step: async () => {
      card.problem = toStorableText(reasons().join('; ').slice(0, LONGEST_PROBLEM)) || null;
      const { modules } = card;
      const beaten = entered ? await beatWorker(pool, card, draining) : null;
      peers = beaten ?? [];
      // A beat that finds no row: it was removed by hand, or another start under this name is gone again.
      if (!beaten) await registerWorker(pool, card);
      beatAt = performance.now();
      const isNew = !beaten || offered !== modules;
      entered = true;
      offered = modules;
      if (isNew) onOffered();
      return beaten ? jitter(BEAT_SECS * 1000) : 0;
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
    peers: () => peers,
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

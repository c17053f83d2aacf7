// Tells in this worker's row which of its claimers need no bell: those that look by themselves, since they are hot, or since
// all their places are taken.
import { markBusy } from '@wfg/shared/queries/workers';
import { hotClaimers } from '@wfg/shared/runtime/counters';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Busy } from './pace.ts';

/** The row is written at most as often, unless it must say that something is not full any more. */
const WRITE_MS = 1_000;
/** A claimer is hot for as long after it has said so; it says so once a second. */
const HOT_MS = 1_500;

interface BusyBoardSettings {
  pool: pg.Pool;
  log: Logger;
  workerId: string;
  instance: string;
  /** Lets those look which take these kinds: for a moment nobody may have rung for them. */
  look: (kinds: readonly string[]) => void;
}

export interface BusyBoard extends AsyncDisposable {
  /** Of the claimer that takes these kinds (`:command`, `:event a`). */
  tell: (kinds: readonly string[], busy: Busy) => void;
  /** Why it cannot be written, for /ready; null if it can. */
  problem: () => string | null;
}

interface Claimer {
  kinds: readonly string[];
  hotAt: number;
  isFull: boolean;
}

/** One for each worker. While it has no row nothing is told: then others ring for what it would find by itself. */
export function startBusyBoard({ pool, log, workerId, instance, look }: BusyBoardSettings): BusyBoard {
  const claimers = new Map<string, Claimer>();
  /** What the row may say is full. */
  let shown: readonly string[] = [];
  let writtenAt = Number.NEGATIVE_INFINITY;

  async function write(): Promise<number> {
    const now = performance.now();
    const all = [...claimers.values()];
    const hotOnes = all.filter(({ hotAt }) => now - hotAt < HOT_MS);
    hotClaimers.set(hotOnes.length);
    const hot = hotOnes.flatMap(({ kinds }) => kinds);
    const full = all.filter(({ isFull }) => isFull).flatMap(({ kinds }) => kinds);
    const freed = shown.filter((kind) => !full.includes(kind));
    const isNew = hot.length > 0 || full.some((kind) => !shown.includes(kind));
    if (freed.length === 0 && !isNew) return Number.POSITIVE_INFINITY;
    const leftMs = writtenAt + WRITE_MS - now;
    if (freed.length === 0 && leftMs > 0) return leftMs;
    // Should the answer be lost, either may stand there.
    shown = [...new Set([...shown, ...full])];
    await markBusy(pool, { worker_id: workerId, instance, hot, full });
    shown = full;
    writtenAt = now;
    if (freed.length > 0) look(freed);
    return hot.length > 0 ? HOT_MS : Number.POSITIVE_INFINITY;
  }

  const loop = startLoop({ name: 'busy', log, step: write });
  return {
    tell(kinds, { hot, full }) {
      const key = JSON.stringify(kinds);
      const hotAt = hot ? performance.now() : (claimers.get(key)?.hotAt ?? Number.NEGATIVE_INFINITY);
      claimers.set(key, { kinds, hotAt, isFull: full });
      loop.wake();
    },
    problem: loop.problem,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

// Remembers the claims of a process that failed without it being known whether the database has done them, and hands back
// what they took, so that nobody waits for those leases to run out, and no try is charged.
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Doorbell } from '../db/doorbell.ts';
import { finishedHint } from '../queries/finish.ts';
import { handBackClaims, type LostClaim } from '../queries/lost-claims.ts';
import { withPartitions } from '../queries/partitions.ts';
import { retryPause } from '../rules/pause.ts';
import { startLoop } from './loop.ts';

/** From the first look that had an answer: a server that works on may commit later than its client gave up. */
const LOOK_MS = 30_000;
/** Remembered at most; in a long outage the later ones were not even sent. */
const MOST = 200;

export interface LostClaims extends AsyncDisposable {
  /** To be called when a claim has failed, whatever the error. */
  add: (claim: LostClaim) => void;
  /** Why they cannot be handed back, for /ready; null if they can. */
  problem: () => string | null;
}

interface Remembered extends LostClaim {
  /** Null until a look had an answer. */
  until: number | null;
}

export function createLostClaims(pool: pg.Pool, doorbell: Doorbell, log: Logger): LostClaims {
  let claims: Remembered[] = [];
  let looks = 0;
  const loop = startLoop({ name: 'lost claims', log, step: look });

  async function look(): Promise<number> {
    if (claims.length === 0) return Number.POSITIVE_INFINITY;
    const asked = [...claims];
    const handedBack = await withPartitions(pool, () => handBackClaims(pool, asked));
    const done = handedBack.filter(({ finished }) => finished.answer === 'applied');
    for (const { lease } of done)
      log.warn({ ...lease, nonce: undefined }, 'handed back: the answer to its claim was lost');
    const hint = finishedHint(
      done.map(({ finished }) => finished),
      done.map(({ lease }) => lease),
    );
    if (done.length > 0) doorbell.ring(hint);
    const now = performance.now();
    for (const claim of asked) claim.until ??= now + LOOK_MS;
    claims = claims.filter(({ until }) => until === null || until > now);
    return retryPause(++looks);
  }

  return {
    add({ worker_id, nonce }) {
      if (claims.length >= MOST) return;
      claims.push({ worker_id, nonce, until: null });
      looks = 0;
      loop.wake();
    },
    problem: loop.problem,
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      // The last chance of what was sent a moment ago; where the database is away it is taken back after all.
      if (loop.problem() === null) await look().catch(() => undefined);
    },
  };
}

// Watches the leases of everything that runs: learns what was lost or asked to stop, and renews them.
import { createPool, type PoolSettings } from '@wfg/shared/db/pool';
import { type Lease, lookAtLeases, renewLeases, renewWhenFree } from '@wfg/shared/queries/leases';
import { jitter, LONGEST_RETRY_MS } from '@wfg/shared/rules/pause';
import { type Loop, startLoop } from '@wfg/shared/runtime/loop';
import type { StopReason } from './stop-error.ts';

/** A cancel is heard as soon also without bells. */
const LOOK_MS = 1_500;

/** An attempt in this worker's hands. */
export interface Held {
  lease: Lease;
  stop: (reason: StopReason) => void;
}

/**
 * Renews what is in `held` at least three times within a TTL, and looks at it every 1.5 s; asks nothing while that is
 * empty. What someone else holds locked is waited for, so that the lease is renewed as soon as that is possible, before a
 * reaper looks. Wake it when a cancel was heard of. It has a connection of its own, so that no log or result that is slow to be
 * stored keeps a lease from being renewed.
 */
export function keepLeases(settings: PoolSettings, held: ReadonlySet<Held>, leaseSecs: number): Loop {
  const pool = createPool({ ...settings, max: 1 });
  let renewAt = 0;
  // When the database is back a lease is renewed soon in relation to its own time, however long it was away.
  const longestRetryMs = Math.min((leaseSecs * 1000) / 10, LONGEST_RETRY_MS);
  const loop = startLoop({ name: 'leases', log: settings.log, longestRetryMs, step });

  async function step(): Promise<number> {
    const attempts = [...held];
    const leases = attempts.map((attempt) => attempt.lease);
    const isDue = performance.now() >= renewAt;
    const states = isDue ? await renewLeases(pool, leases) : await lookAtLeases(pool, leases);
    for (const { index, held: isHeld, cancelled } of states) {
      if (!isHeld) attempts[index]?.stop('lost');
      else if (cancelled) attempts[index]?.stop('cancelled');
    }
    const skipped = isDue ? states.find((one) => one.held && !one.renewed) : undefined;
    const lease = skipped && leases[skipped.index];
    if (lease) {
      await renewWhenFree(pool, lease, LOOK_MS);
      // All are due again: who held this one may have held others.
      return 0;
    }
    if (isDue) renewAt = performance.now() + jitter((leaseSecs * 1000) / 3);
    return Math.min(jitter(LOOK_MS), Math.max(0, renewAt - performance.now()));
  }

  return {
    ...loop,
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      await pool.end();
    },
  };
}

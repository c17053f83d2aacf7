// Renews the leases of everything that runs, and learns in the same statement what was lost or asked to stop.
import { type Lease, renewLeases } from '@wfg/shared/queries/leases';
import { jitter } from '@wfg/shared/rules/pause';
import { type Loop, startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { StopReason } from './stop-error.ts';

/** An attempt in this worker's hands. */
export interface Held {
  lease: Lease;
  stop: (reason: StopReason) => void;
}

/** Renews what is in `held` at least three times within a TTL. Wake it when a cancel was heard of. */
export function keepLeases(pool: pg.Pool, held: ReadonlySet<Held>, leaseSecs: number, log: Logger): Loop {
  return startLoop({
    name: 'leases',
    log,
    step: async () => {
      const attempts = [...held];
      const renewals = await renewLeases(
        pool,
        attempts.map((attempt) => attempt.lease),
      );
      for (const renewal of renewals) {
        const attempt = attempts[renewal.index];
        if (!renewal.held) attempt?.stop('lost');
        else if (renewal.cancelled) attempt?.stop('cancelled');
      }
      return jitter((leaseSecs * 1000) / 3);
    },
  });
}

// One pass over the runs in which something waits for a scheduler.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { withTx } from '@wfg/shared/db/tx';
import {
  closeRuns,
  findUnsettled,
  lockRuns,
  markRunsSettled,
  numberRuns,
  settleJobs,
} from '@wfg/shared/queries/advance';
import { cancelJobs } from '@wfg/shared/queries/cancel';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { jitter } from '@wfg/shared/rules/pause';
import type pg from 'pg';

/** Runs moved on in one transaction: enough to be fast, few enough to keep it short. */
const BATCH = 100;
/** How soon to look again at runs that another scheduler holds: it may have read before the last job ended. */
const HELD_MS = 20;

/**
 * Moves up to 100 runs on and rings for what came of it. Returns how soon there is more to do, in milliseconds, or
 * null when nothing is left.
 */
export async function advanceRuns(pool: pg.Pool, doorbell: Doorbell): Promise<number | null> {
  const found = await findUnsettled(pool, BATCH);
  if (found.length === 0) return null;
  const { locked, released } = await withPartitions(pool, () =>
    withTx(pool, async (tx) => {
      const locked = await lockRuns(tx, found);
      if (locked.length === 0) return { locked, released: [] };
      await numberRuns(tx, locked);
      await cancelJobs(tx, locked);
      const released = await settleJobs(tx, locked);
      await closeRuns(tx, locked);
      await markRunsSettled(tx, locked);
      return { locked, released };
    }),
  );
  if (locked.length > 0) {
    const lanes = Object.fromEntries(released.map(({ lane, count }) => [lane, count]));
    doorbell.ring({ lanes, runs: locked });
  }
  return locked.length < found.length ? jitter(HELD_MS) : 0;
}

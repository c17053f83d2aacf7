// One pass over the runs in which something waits for a scheduler.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { errorCode, isConnectionError, SQLSTATE } from '@wfg/shared/db/sqlstate';
import { withTx } from '@wfg/shared/db/tx';
import {
  closeRuns,
  FIRST,
  findUnsettled,
  type Lanes,
  lockRuns,
  markRunsSettled,
  numberRuns,
  settleJobs,
} from '@wfg/shared/queries/advance';
import { acceptRuns } from '@wfg/shared/queries/accept';
import { cancelJobs } from '@wfg/shared/queries/cancel';
import { findReadyRoots, judgeJobs } from '@wfg/shared/queries/judge';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { reviveJobs } from '@wfg/shared/queries/revive';
import { jitter, retryPause } from '@wfg/shared/rules/pause';
import type pg from 'pg';
import type { Logger } from 'pino';

/** Moved on in one transaction: enough to be fast, little enough to keep it short. */
const BATCH = { runs: 50, jobs: 5_000 };
/**
 * How soon to look again at runs that were passed over: another scheduler that held them may have read before the last
 * job ended. At most, while someone else holds them for longer.
 */
const HELD_MS = 20;
const LONGEST_HELD_MS = 1_000;
/** Of settling and judging in one transaction; a run in which more follows from more goes on in the next. */
const ROUNDS = 100;
/** For a row that someone else holds locked: a batch that meets one is done run by run, so that no other run waits. */
const LOCK_MS = 1_000;
/** How soon to try again what met such a row, and what failed. */
const LOCKED_MS = 1_000;
const FAILED_MS = 5_000;
/** Remembered at most. */
const MOST_STUCK = 10_000;

/** What one pass leaves to the next. */
export interface Passed {
  /** Runs that could not be moved on, and when to try again, by performance.now(): until then they spoil no batch. */
  stuck: Map<string, number>;
  /** The passes in a row in which somebody else held runs locked. */
  held: number;
}

export function nothingPassed(): Passed {
  return { stuck: new Map(), held: 0 };
}

/**
 * Moves every run on in which something waits, a batch a transaction, and rings for what came of it. Returns how soon
 * to look again, in milliseconds, or null when nothing is left. A run that cannot be moved on is logged and passed over.
 */
export async function advanceRuns(
  pool: pg.Pool,
  doorbell: Doorbell,
  log: Logger,
  passed = nothingPassed(),
): Promise<number | null> {
  const { stuck } = passed;
  for (const [run, until] of stuck) if (until <= performance.now()) stuck.delete(run);
  let again: number | null = null;
  let isHeld = false;
  const soonest = (ms: number) => (again = Math.min(again ?? ms, ms));
  for (let after = FIRST; ; ) {
    const found = await findUnsettled(pool, after, BATCH);
    const last = found.at(-1);
    if (last === undefined) break;
    after = last;
    const due = found.filter(isDue);
    if (due.length === 0) continue;
    isHeld = (await advanceBatch(due)) || isHeld;
  }
  passed.held = isHeld ? passed.held + 1 : 0;
  if (isHeld) soonest(retryPause(passed.held, LONGEST_HELD_MS, HELD_MS));
  return again;

  function isDue(run: string): boolean {
    const until = stuck.get(run);
    if (until !== undefined) soonest(Math.max(until - performance.now(), 0));
    return until === undefined;
  }

  /** True if some of them are still to be looked at: another scheduler holds them, or they were too much at once. */
  async function advanceBatch(runs: string[]): Promise<boolean> {
    try {
      const { locked, isDone } = await advance(pool, doorbell, runs);
      if (!isDone) soonest(0);
      return locked < runs.length;
    } catch (error) {
      if (isConnectionError(error)) throw error;
      const [only] = runs;
      if (runs.length === 1) {
        const isLocked = errorCode(error) === SQLSTATE.lockNotAvailable;
        log.error({ err: error, run_id: only }, 'a run cannot be moved on');
        const pauseMs = jitter(isLocked ? LOCKED_MS : FAILED_MS);
        if (only !== undefined && stuck.size < MOST_STUCK) stuck.set(only, performance.now() + pauseMs);
        soonest(pauseMs);
        return false;
      }
      // One of them spoils it for all: each alone.
      let held = false;
      for (const run of runs) held = (await advanceBatch([run])) || held;
      return held;
    }
  }
}

/**
 * Moves the runs on that nobody else holds and that can all be read at once: how many they were, and whether nothing is
 * left to do in them for now.
 */
async function advance(
  pool: pg.Pool,
  doorbell: Doorbell,
  runs: string[],
): Promise<{ locked: number; isDone: boolean }> {
  const work = async (tx: pg.PoolClient) => {
    const held = await lockRuns(tx, runs);
    if (held.length === 0) return { locked: held, lanes: {}, stopped: [], isDone: true };
    await numberRuns(tx, held);
    const accepted = await acceptRuns(tx, held);
    const locked = held.filter((run) => !accepted.later.includes(run));
    const revived = await reviveJobs(tx, locked);
    const stopped = await cancelJobs(tx, locked);
    const { lanes, isDone } = await settle(tx, locked, sum(accepted.lanes, revived));
    await closeRuns(tx, locked);
    await markRunsSettled(tx, locked);
    return { locked, lanes, stopped, isDone };
  };
  const { locked, lanes, stopped, isDone } = await withPartitions(pool, () =>
    withTx(pool, work, { lockMs: LOCK_MS }),
  );
  if (locked.length > 0) doorbell.ring({ lanes, cancel: stopped, runs: locked });
  return { locked: locked.length, isDone };
}

/**
 * Settles and judges in turn, as long as more comes of it: what a judgement skips or fails has children too. Adds to
 * what has been released already.
 */
async function settle(
  tx: pg.PoolClient,
  runs: readonly string[],
  released: Lanes,
): Promise<{ lanes: Lanes; isDone: boolean }> {
  let lanes = released;
  let ready = await findReadyRoots(tx, runs);
  for (let round = 0; round < ROUNDS; round++) {
    lanes = sum(lanes, await judgeJobs(tx, ready));
    const settled = await settleJobs(tx, runs);
    lanes = sum(lanes, settled.lanes);
    ready = settled.ready;
    if (ready.length === 0) return { lanes, isDone: true };
  }
  return { lanes: sum(lanes, await judgeJobs(tx, ready)), isDone: false };
}

function sum(some: Lanes, more: Lanes): Lanes {
  const lanes = { ...some };
  for (const [lane, count] of Object.entries(more)) lanes[lane] = (lanes[lane] ?? 0) + count;
  return lanes;
}

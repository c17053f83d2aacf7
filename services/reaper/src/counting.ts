// Counting: sums tallies up, and counts the jobs for everyone while they are too many to be counted for each reader. A
// loop of its own: leases do not wait for it.
import { forgetCounts, storeCounts } from '@wfg/shared/queries/counts';
import type { Overdue } from '@wfg/shared/queries/overdue';
import { sumUpTallies } from '@wfg/shared/queries/tallies';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';

/** With the time to the next look, and that of counting, what readers get is less than ten seconds old. */
const REFRESH_SECS = 4;
/** Tallies in one statement. */
const TALLIES = 20_000;
/** Counting takes a fifth of the time at most. */
const REST = 4;

export interface Counting extends AsyncDisposable {
  /** Has the tallies summed up, and the jobs counted, if it is time to. */
  see: (found: Pick<Overdue, 'tallies' | 'many' | 'counted_secs_ago'>) => void;
  /** Why they cannot be counted, for /ready; null if they can. */
  problem: () => string | null;
}

export function startCounting(pool: pg.Pool, log: Logger): Counting {
  let isLoose = false;
  let work: ((pool: pg.Pool) => Promise<void>) | null = null;
  let tookSecs = 0;

  async function step(): Promise<number> {
    if (isLoose) isLoose = (await sumUpTallies(pool, TALLIES)) === TALLIES;
    if (isLoose) return 0;
    if (work !== null) {
      const begun = performance.now();
      await work(pool).finally(() => (work = null));
      tookSecs = (performance.now() - begun) / 1_000;
    }
    return Number.POSITIVE_INFINITY;
  }
  const loop = startLoop({ name: 'counts', log, step });

  return {
    see({ tallies, many, counted_secs_ago }) {
      if (tallies) {
        isLoose = true;
        loop.wake();
      }
      if (work !== null) return;
      const age = counted_secs_ago ?? Number.POSITIVE_INFINITY;
      if (many && age >= Math.max(REFRESH_SECS, REST * tookSecs)) work = storeCounts;
      if (!many && counted_secs_ago !== null) work = forgetCounts;
      if (work !== null) loop.wake();
    },
    problem: loop.problem,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

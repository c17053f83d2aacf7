// known fault 24: at no moment has a run ended and a job of it not, or all its jobs and the run not.
import type { FileJob } from '@wfg/shared/contract/workflow';
import { array, constantFrom, nat, record, sample } from 'fast-check';
import { expect, test } from 'vitest';
import { endedTogether } from '../chaos/checks/ended-together.ts';
import { cancel, claim, finish, submit } from '../support/engine.ts';
import { testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';
import { watchRuns } from '../support/watch-runs.ts';

const RUNS = 60;
const SEED = Date.now();

const condition = constantFrom(undefined, undefined, 'always()', 'failure()', 'cancelled()', 'false');
/** Each job needs some of those before it. */
const graph = array(record({ if: condition, needs: nat(255) }), { minLength: 1, maxLength: 8 });
const [graphs, ends] = [
  sample(graph, { numRuns: RUNS, seed: SEED }),
  sample(nat(9), { numRuns: 1_000, seed: SEED }),
];

function jobsOf(drawn: (typeof graphs)[number]): Record<string, FileJob> {
  const jobs = drawn.map(({ if: condition, needs }, index): [string, FileJob] => {
    const parents = Array.from({ length: index }, (_, n) => `j${n}`).filter((_, n) => (needs >> n) % 2 === 1);
    return [`j${index}`, { needs: parents, ...(condition !== undefined && { if: condition }) }];
  });
  return Object.fromEntries(jobs);
}

test('known fault 24: a run ends when all its jobs have, and not before', async () => {
  await using db = await testDatabase();
  await using watch = watchRuns(db.pool, 1);
  await using stack = new AsyncDisposableStack();
  for (let n = 0; n < 2; n++) stack.use(startService('scheduler', { DATABASE_URL: db.url }));
  let drawn = 0;
  const draw = () => ends[drawn++ % ends.length] ?? 0;
  const left = graphs.values();
  async function user(): Promise<void> {
    for (const graph of left) {
      const run = await submit(db.pool, jobsOf(graph));
      if (draw() < 2) await cancel(db.pool, run);
    }
  }
  const isOver = async () =>
    (await db.pool.query(`select from wfg_runs where state = 'open' limit 1`)).rowCount === 0;
  async function worker(): Promise<void> {
    await waitFor('all runs to end', async () => {
      const taken = await claim(db.pool, { limit: 5 });
      for (const job of taken) await finish(db.pool, job, { outcome: draw() < 3 ? 'failed' : 'completed' });
      return taken.length === 0 && (await isOver());
    });
  }
  await user();
  await Promise.all([worker(), worker()]);
  expect(watch.looks()).toBeGreaterThan(10);
  expect(endedTogether(watch.seen()), `seed ${SEED}`).toEqual([]);
});

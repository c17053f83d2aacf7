// Runs moving on: dependencies, skips, cancels, and the end.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import type { ClaimedJob } from '@wfg/shared/queries/claim';
import { finishJobs } from '@wfg/shared/queries/finish';
import { submitRun } from '@wfg/shared/queries/submit';
import { readUpstream } from '@wfg/shared/queries/upstream';
import { defineWorkflow } from '@wfg/shared/rules/definition';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { advanceRuns } from '../../../services/scheduler/src/advance-runs.ts';
import { advance, cancel, claim, finish, reportOf, runState, states, submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const ids = (jobs: { job_id: string }[]) => jobs.map((job) => job.job_id);

async function finishAll(pool: Pool, jobs: ClaimedJob[]): Promise<void> {
  for (const job of jobs) await finish(pool, job);
}

/** Whether a statement waits for a row that another holds. */
async function isLocked(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query(
    "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
  );
  return rows.length > 0;
}

test('a diamond: the join starts after both arms, once', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {
    a: {},
    b: { needs: 'a' },
    c: { needs: 'a' },
    d: { needs: ['b', 'c'] },
  });
  await finishAll(db.pool, await claim(db.pool));
  await advance(db.pool);
  const arms = await claim(db.pool);
  expect(ids(arms)).toEqual(['b', 'c']);
  const [b, c] = arms;
  if (!b || !c) throw new Error('an arm is missing');
  await finish(db.pool, b);
  await advance(db.pool);
  expect(await claim(db.pool)).toEqual([]);
  await finish(db.pool, c);
  await advance(db.pool);
  const join = await claim(db.pool);
  expect(ids(join)).toEqual(['d']);
  await finishAll(db.pool, join);
  expect(await runState(db.pool, run)).toBe('open');
  await advance(db.pool);
  expect(await runState(db.pool, run)).toBe('completed');
  expect((await db.pool.query('select from wfg_jobs')).rowCount).toBe(0);
});

test('many schedulers at once tell the child of fifty parents exactly once each', async () => {
  await using db = await testDatabase();
  const parents = Array.from({ length: 50 }, (_, index) => `p${index}`);
  const jobs = Object.fromEntries(parents.map((id) => [id, {}]));
  const run = await submit(db.pool, { ...jobs, child: { needs: parents } });
  const claimed = await claim(db.pool);
  await Promise.all(claimed.map(async (job) => [await finish(db.pool, job), await advance(db.pool)]));
  await advance(db.pool);
  expect(ids(await claim(db.pool))).toEqual(['child']);
  const { rows } = await db.pool.query(
    "select blocked_on, open_jobs from wfg_jobs j join wfg_runs r on r.id = run_id where run_id = $1 and job_id = 'child'",
    [run],
  );
  expect(rows).toEqual([{ blocked_on: 0, open_jobs: 1 }]);
});

test('however failures and successes mix, a child with a failed parent never starts', async () => {
  await using db = await testDatabase();
  const runs = await Promise.all(
    Array.from({ length: 40 }, () =>
      submit(db.pool, { good: {}, bad: {}, child: { needs: ['good', 'bad'] } }),
    ),
  );
  const claimed = await claim(db.pool, { limit: 80 });
  await Promise.all(
    claimed.map(async (job) => {
      const outcome = job.job_id === 'bad' ? 'failed' : 'completed';
      await finish(db.pool, job, { outcome, retryable: false });
      await advance(db.pool);
    }),
  );
  await advance(db.pool);
  expect(await claim(db.pool)).toEqual([]);
  for (const run of runs) {
    expect(await states(db.pool, run)).toEqual({ good: 'completed', bad: 'failed', child: 'skipped' });
    expect(await runState(db.pool, run)).toBe('failed');
  }
});

test('a job that fails while a pass is under way is judged whole by the next', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {}, b: {}, child: { needs: ['a', 'b'] } });
  const [a, b] = await claim(db.pool);
  if (!a || !b) throw new Error('a root is missing');
  await finish(db.pool, a);
  // The pass waits in its settling statement, whose snapshot is taken, while the other parent fails.
  const holder = await db.pool.connect();
  await holder.query('begin');
  await holder.query("select from wfg_jobs where job_id = 'a' for update");
  const pass = advance(db.pool);
  await waitFor('the pass to wait', () => isLocked(db.pool));
  await finish(db.pool, b, { outcome: 'failed', retryable: false });
  await holder.query('commit');
  holder.release();
  await pass;
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'completed', b: 'failed', child: 'skipped' });
});

test('a run that cannot be moved on holds up no other', async () => {
  await using db = await testDatabase();
  const broken = await submit(db.pool, { a: {} });
  const others = await Promise.all(Array.from({ length: 5 }, () => submit(db.pool, { a: {} })));
  await finishAll(db.pool, await claim(db.pool));
  // Its count is wrong, so that settling its job breaks a constraint.
  await db.pool.query('update wfg_runs set open_jobs = 0 where id = $1', [broken]);
  await using doorbell = createDoorbell(db.pool, pino({ level: 'silent' }));
  expect(await advanceRuns(db.pool, doorbell, pino({ level: 'silent' }))).toBeGreaterThan(1_000);
  for (const run of others) expect(await runState(db.pool, run)).toBe('completed');
  expect(await runState(db.pool, broken)).toBe('open');
});

test('a job with 10,000 parents starts, with the outputs of all of them', async () => {
  await using db = await testDatabase();
  const parents = Array.from({ length: 9_999 }, (_, index) => `p${index}`);
  const jobs = Object.fromEntries(parents.map((id) => [id, { run: 'true' }]));
  const definition = defineWorkflow({
    name: 'wide',
    jobs: { ...jobs, join: { run: 'true', needs: parents } },
  });
  const { run_id } = await submitRun(db.pool, null, definition, {});
  for (let claimed = await claim(db.pool, { limit: 2_000 }); claimed.length > 0; ) {
    await finishJobs(
      db.pool,
      claimed.map((job) => reportOf(job, { outputs: { id: job.job_id } })),
    );
    await advance(db.pool);
    claimed = await claim(db.pool, { limit: 2_000 });
    const [join] = claimed;
    if (join?.job_id !== 'join') continue;
    const upstream = await readUpstream(db.pool, join);
    expect(Object.keys(upstream)).toHaveLength(9_999);
    expect(upstream.p77).toEqual({ id: 'p77' });
  }
  expect(await runState(db.pool, run_id)).toBe('completed');
});

test('everything below a failure is skipped at once, says why, and nothing else is touched', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {
    a: {},
    slow: {},
    b: { needs: ['a', 'slow'] },
    c: { needs: 'b' },
    other: { needs: 'slow' },
  });
  const [a, slow] = await claim(db.pool);
  if (!a || !slow) throw new Error('a root is missing');
  await finish(db.pool, a, { outcome: 'failed', retryable: false, error: 'exit code 1: ' });
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({
    a: 'failed',
    slow: 'active',
    b: 'skipped',
    c: 'skipped',
    other: 'blocked',
  });
  const { rows } = await db.pool.query(
    "select job_id, error from wfg_jobs where state = 'skipped' order by job_id",
  );
  expect(rows).toEqual([
    { job_id: 'b', error: 'needs a, which failed' },
    { job_id: 'c', error: 'needs b, which was skipped' },
  ]);
  await finish(db.pool, slow);
  await advance(db.pool);
  await finishAll(db.pool, await claim(db.pool));
  await advance(db.pool);
  expect(await states(db.pool, run)).toMatchObject({ other: 'completed', b: 'skipped' });
  expect(await runState(db.pool, run)).toBe('failed');
});

test('a chain of 10,000 below a failure is skipped in one pass', async () => {
  await using db = await testDatabase();
  const jobs = Array.from({ length: 10_000 }, (_, index) => [
    `j${index}`,
    { run: 'true', needs: index === 0 ? [] : [`j${index - 1}`] },
  ]);
  const definition = defineWorkflow({ name: 'chain', jobs: Object.fromEntries(jobs) });
  const { run_id } = await submitRun(db.pool, null, definition, {});
  const [first] = await claim(db.pool);
  if (!first) throw new Error('nothing to claim');
  await finish(db.pool, first, { outcome: 'failed', retryable: false });
  await advance(db.pool);
  expect(await runState(db.pool, run_id)).toBe('failed');
  const { rows } = await db.pool.query('select state, count(*)::int from wfg_history group by 1 order by 1');
  expect(rows).toEqual([
    { state: 'failed', count: 1 },
    { state: 'skipped', count: 9_999 },
  ]);
});

test('a cancel ends what waits at once; what had ended keeps its state', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {}, b: { needs: 'a' }, c: { needs: 'b' } });
  await finishAll(db.pool, await claim(db.pool));
  await advance(db.pool);
  expect(await cancel(db.pool, run)).toBe(true);
  expect(await claim(db.pool)).toEqual([]);
  expect(await states(db.pool, run)).toEqual({ a: 'completed', b: 'cancelled', c: 'cancelled' });
  await advance(db.pool);
  expect(await runState(db.pool, run)).toBe('cancelled');
  expect(await cancel(db.pool, run)).toBe(false);
});

test('a cancel that comes when all jobs have ended changes nothing: the run ends by what they did', async () => {
  await using db = await testDatabase();
  const failing = await submit(db.pool, { a: {}, b: {} });
  for (const job of await claim(db.pool)) {
    await finish(db.pool, job, job.job_id === 'a' ? { outcome: 'failed', retryable: false } : {});
  }
  const completing = await submit(db.pool, { a: {}, b: {} });
  await finishAll(db.pool, await claim(db.pool));
  for (const run of [failing, completing]) expect(await cancel(db.pool, run)).toBe(true);
  await advance(db.pool);
  expect(await runState(db.pool, failing)).toBe('failed');
  expect(await runState(db.pool, completing)).toBe('completed');
});

test('a cancel locks jobs in the order of their keys, wherever their rows stand', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {}, b: {} });
  // Its new row stands behind that of b, and so small a table is read from its start to its end.
  await db.pool.query(`update wfg_jobs set updated_at = wfg_now() where job_id = 'a'`);
  await db.pool.query('analyze wfg_jobs, wfg_runs');
  const holder = await db.pool.connect();
  await holder.query(`begin; select from wfg_jobs where job_id = 'a' for update`);
  const cancelled = cancel(db.pool, run);
  try {
    await waitFor('the cancel to wait', () => isLocked(db.pool));
    await db.pool.query(`select from wfg_jobs where job_id = 'b' for update nowait`);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  expect(await cancelled).toBe(true);
  expect(await states(db.pool, run)).toEqual({ a: 'cancelled', b: 'cancelled' });
});

test('a run without jobs completes', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {});
  await advance(db.pool);
  expect(await runState(db.pool, run)).toBe('completed');
});

test('runs of one workflow are numbered from 1 without holes, by any scheduler', async () => {
  await using db = await testDatabase();
  const definition = defineWorkflow({ name: 'n', jobs: { a: { run: 'true' } } });
  await Promise.all(Array.from({ length: 30 }, () => submitRun(db.pool, 'n', definition, {})));
  await Promise.all(Array.from({ length: 5 }, () => advance(db.pool)));
  const { rows } = await db.pool.query('select number from wfg_runs order by id');
  expect(rows.map((row: { number: number }) => row.number)).toEqual(
    Array.from({ length: 30 }, (_, n) => n + 1),
  );
});

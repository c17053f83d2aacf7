// A job that failed is tried again in a run that goes on, and what was skipped because of it waits for it again.
import { cancelJob } from '@wfg/shared/queries/cancel';
import { reapExpired } from '@wfg/shared/queries/reap';
import { readAttempts } from '@wfg/shared/queries/attempts';
import { retryJob } from '@wfg/shared/queries/requeue';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { advance, cancel, claim, finish, moveClock, runState, states, submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';

const FAILED = { outcome: 'failed', retryable: false, error: 'no' } as const;

/** Claims all that is due and ends each as told; what is not named goes on running. */
async function end(pool: Pool, told: Record<string, Parameters<typeof finish>[2]>): Promise<string[]> {
  const jobs = await claim(pool);
  for (const job of jobs) if (told[job.job_id]) await finish(pool, job, told[job.job_id]);
  await advance(pool);
  return jobs.map((job) => job.job_id).sort();
}

test('what was skipped because of it runs after it, and attempts go on counting', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {
    a: {},
    b: { needs: 'a' },
    c: { needs: ['b', 'slow'] },
    slow: {},
  });
  expect(await end(db.pool, { a: FAILED })).toEqual(['a', 'slow']);
  expect(await states(db.pool, run)).toEqual({ a: 'failed', b: 'skipped', c: 'skipped', slow: 'active' });
  await retryJob(db.pool, run, 'a');
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'pending', b: 'blocked', c: 'blocked', slow: 'active' });
  expect(await end(db.pool, { a: {} })).toEqual(['a']);
  expect(await end(db.pool, { b: {} })).toEqual(['b']);
  expect(await states(db.pool, run)).toMatchObject({ c: 'blocked', slow: 'active' });
  await moveClock(db.pool, '1 minute');
  await reapExpired(db.pool, 10);
  await advance(db.pool);
  expect(await states(db.pool, run)).toMatchObject({ slow: 'failed', c: 'skipped' });
  expect(await runState(db.pool, run)).toBe('failed');
  const attempts = await readAttempts(db.pool, run, 'a');
  expect(attempts?.attempts.map(({ attempt, outcome, error }) => ({ attempt, outcome, error }))).toEqual([
    { attempt: 0, outcome: 'failed', error: 'no' },
    { attempt: 1, outcome: 'completed', error: 'no' },
  ]);
});

test('a run ends completed after its only failure was retried', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {}, b: { needs: 'a' }, other: {} });
  const jobs = await claim(db.pool);
  for (const job of jobs) if (job.job_id === 'a') await finish(db.pool, job, FAILED);
  // Before a scheduler has looked at the failure.
  await retryJob(db.pool, run, 'a');
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'pending', b: 'blocked', other: 'active' });
  for (const job of jobs) if (job.job_id === 'other') await finish(db.pool, job);
  await end(db.pool, { a: {} });
  await end(db.pool, { b: {} });
  expect(await runState(db.pool, run)).toBe('completed');
});

test('what another failure keeps from running stays skipped', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {
    a: {},
    k: {},
    both: { needs: ['a', 'k'] },
    below: { needs: 'both' },
    only: { needs: 'a' },
    slow: {},
  });
  await end(db.pool, { a: FAILED, k: FAILED });
  await retryJob(db.pool, run, 'a');
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({
    a: 'pending',
    k: 'failed',
    both: 'skipped',
    below: 'skipped',
    only: 'blocked',
    slow: 'active',
  });
  await end(db.pool, { a: {} });
  await retryJob(db.pool, run, 'k');
  await advance(db.pool);
  expect(await states(db.pool, run)).toMatchObject({ k: 'pending', both: 'blocked', below: 'blocked' });
  await end(db.pool, { k: {}, only: {} });
  await end(db.pool, { both: {} });
  await end(db.pool, { below: {} });
  expect(await states(db.pool, run)).toMatchObject({ both: 'completed', below: 'completed', slow: 'active' });
});

test('a job that asks for the failure and waits is told anew; one that has begun goes on', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {
    a: {},
    slow: {},
    begun: { needs: 'a', if: 'failure()' },
    tidy: { needs: ['a', 'slow'], if: 'failure()' },
    after: { needs: 'tidy', if: 'always()' },
  });
  const jobs = await claim(db.pool);
  for (const job of jobs) if (job.job_id === 'a') await finish(db.pool, job, FAILED);
  await advance(db.pool);
  expect(await states(db.pool, run)).toMatchObject({ begun: 'pending', tidy: 'blocked' });
  await retryJob(db.pool, run, 'a');
  await advance(db.pool);
  await end(db.pool, { a: {}, begun: {} });
  expect(await states(db.pool, run)).toMatchObject({ a: 'completed', begun: 'completed', tidy: 'blocked' });
  for (const job of jobs) if (job.job_id === 'slow') await finish(db.pool, job);
  await advance(db.pool);
  expect(await states(db.pool, run)).toMatchObject({ tidy: 'skipped', after: 'pending' });
});

test('a cancelled job is retried, and what cannot be is refused with what to do', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {}, b: { needs: 'a' }, slow: {} });
  await db.pool.query('select wfg_cancel($1, $2)', [run, 'a']);
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'cancelled', b: 'skipped', slow: 'pending' });
  await expect(retryJob(db.pool, run, 'b')).rejects.toThrow(/needs 'a', which is cancelled: retry that one/);
  await expect(retryJob(db.pool, run, 'slow')).rejects.toThrow(/is pending: only what failed/);
  await expect(retryJob(db.pool, run, 'x')).rejects.toThrow(/no job 'x'/);
  await db.pool.query('select wfg_requeue($1, $2)', [run, 'a']);
  await advance(db.pool);
  await end(db.pool, { a: FAILED });
  await cancel(db.pool, run);
  await expect(retryJob(db.pool, run, 'a')).rejects.toThrow(/is ending: it was cancelled: rerun it/);
  await moveClock(db.pool, '1 minute');
  await reapExpired(db.pool, 10);
  await advance(db.pool);
  await expect(retryJob(db.pool, run, 'a')).rejects.toThrow(/has ended: it cancelled: rerun it/);
  await expect(db.pool.query('select wfg_requeue($1)', [run])).rejects.toMatchObject({ code: 'WF003' });
});

test.for(['job', 'run'] as const)(
  'of one that is cancelled again (its %s is) before a scheduler looks, the end is told once',
  async (what) => {
    await using db = await testDatabase();
    const run = await submit(db.pool, {
      a: {},
      b: {},
      tidy: { needs: ['a', 'b'], if: 'always()' },
      last: { needs: ['a', 'tidy'], if: 'always()' },
    });
    const jobs = await claim(db.pool);
    for (const job of jobs) if (job.job_id === 'a') await finish(db.pool, job, FAILED);
    await advance(db.pool);
    await retryJob(db.pool, run, 'a');
    if (what === 'run') await cancel(db.pool, run);
    else await cancelJob(db.pool, run, 'a');
    await advance(db.pool);
    expect(await states(db.pool, run)).toEqual({
      a: 'cancelled',
      b: 'active',
      tidy: 'blocked',
      last: 'blocked',
    });
    for (const job of jobs) if (job.job_id === 'b') await finish(db.pool, job);
    await advance(db.pool);
    expect(await states(db.pool, run)).toMatchObject({ tidy: 'pending', last: 'blocked' });
    await end(db.pool, { tidy: {} });
    expect(await end(db.pool, { last: {} })).toEqual(['last']);
    expect(await runState(db.pool, run)).toBe('cancelled');
  },
);

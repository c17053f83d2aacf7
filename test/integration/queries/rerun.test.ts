// A new run from the jobs of an ended one: all of them, what failed, or one job and what is below it.
import { readRun } from '@wfg/shared/queries/run';
import { rerun } from '@wfg/shared/queries/rerun';
import { readUpstream } from '@wfg/shared/queries/upstream';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { advance, claim, finish, moveClock, runState, states, submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';

const FAILED = { outcome: 'failed', retryable: false, error: 'no' } as const;

/** Claims and ends all that becomes due, until nothing does; what is not told completes. Returns what ran, in order. */
async function work(pool: Pool, told: Record<string, Parameters<typeof finish>[2]> = {}): Promise<string[]> {
  const ran: string[] = [];
  for (;;) {
    await advance(pool);
    const jobs = await claim(pool);
    if (jobs.length === 0) return ran;
    for (const job of jobs) {
      await finish(pool, job, told[job.job_id] ?? { outputs: { of: job.job_id } });
      ran.push(job.job_id);
    }
  }
}

test('from what failed: the rest is taken over with its outputs, and says where it ran', async () => {
  await using db = await testDatabase();
  const first = await submit(db.pool, {
    a: {},
    b: { needs: 'a' },
    c: { needs: 'b' },
    d: { needs: 'a' },
    no: { needs: 'a', if: 'false' },
  });
  await work(db.pool, { b: FAILED });
  expect(await runState(db.pool, first)).toBe('failed');
  await moveClock(db.pool, '1 hour');
  const { run_id: second } = await rerun(db.pool, first, 'failed');
  expect(await readRun(db.pool, second)).toMatchObject({
    status: 'pending',
    rerun_of: first,
    started_at: null,
  });
  await advance(db.pool);
  const [b] = await claim(db.pool);
  if (!b) throw new Error('nothing is due');
  expect(await readUpstream(db.pool, b)).toEqual({ a: { of: 'a' } });
  await finish(db.pool, b, FAILED);
  expect(await work(db.pool)).toEqual([]);
  const { run_id: third } = await rerun(db.pool, second, 'failed');
  expect(await work(db.pool)).toEqual(['b', 'c']);
  const ended = await readRun(db.pool, third);
  expect(ended).toMatchObject({ status: 'completed', rerun_of: second });
  expect(
    ended?.jobs.map(({ job_id, state, attempt, reused_from }) => ({ job_id, state, attempt, reused_from })),
  ).toEqual([
    { job_id: 'a', state: 'completed', attempt: 0, reused_from: first },
    { job_id: 'b', state: 'completed', attempt: 0, reused_from: null },
    { job_id: 'c', state: 'completed', attempt: 0, reused_from: null },
    { job_id: 'd', state: 'completed', attempt: 0, reused_from: first },
    { job_id: 'no', state: 'skipped', attempt: 0, reused_from: first },
  ]);
});

test('from a job: it runs with all below it, by the definition of its own run', async () => {
  await using db = await testDatabase();
  const first = await submit(db.pool, {
    a: {},
    b: { needs: 'a', env: { UP: '${{ needs.a.outputs.of }}' } },
    c: { needs: 'b', if: 'always()' },
    other: {},
  });
  await work(db.pool, { other: FAILED });
  const { run_id: second } = await rerun(db.pool, first, 'b');
  await advance(db.pool);
  const [b] = await claim(db.pool);
  expect(b).toMatchObject({ job_id: 'b', spec: { env: { UP: 'a' } } });
  if (b) await finish(db.pool, b);
  expect(await work(db.pool)).toEqual(['c']);
  // The failure that was taken over counts.
  expect(await states(db.pool, second)).toMatchObject({ a: 'completed', other: 'failed' });
  expect(await runState(db.pool, second)).toBe('failed');
});

test('whole: everything runs again, and the number goes on counting', async () => {
  await using db = await testDatabase();
  const first = await submit(db.pool, { a: {}, b: { needs: 'a' } });
  await work(db.pool);
  const { run_id: second, lanes } = await rerun(db.pool, first, undefined);
  expect(Object.values(lanes)).toEqual([1]);
  expect(await work(db.pool)).toEqual(['a', 'b']);
  expect(await readRun(db.pool, second)).toMatchObject({
    status: 'completed',
    jobs: [{ reused_from: null }, {}],
  });
});

test('a rerun from what was cancelled skips what a false if had skipped', async () => {
  await using db = await testDatabase();
  const first = await submit(db.pool, {
    no: { if: 'false' },
    slow: {},
    after: { needs: ['no', 'slow'] },
  });
  await advance(db.pool);
  await db.pool.query('select wfg_cancel($1)', [first]);
  await advance(db.pool);
  expect(await states(db.pool, first)).toMatchObject({ no: 'skipped', slow: 'cancelled' });
  const { run_id: second } = await rerun(db.pool, first, 'failed');
  expect(await work(db.pool)).toEqual(['slow']);
  expect(await states(db.pool, second)).toEqual({ no: 'skipped', slow: 'completed', after: 'skipped' });
  expect(await runState(db.pool, second)).toBe('completed');
});

test('what cannot be rerun is refused with what to do', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {}, b: { needs: 'a' } });
  await expect(rerun(db.pool, run, undefined)).rejects.toMatchObject({
    code: 'conflict',
    message: /goes on/,
  });
  await work(db.pool, { a: FAILED });
  await expect(rerun(db.pool, run, 'b')).rejects.toThrow(/b would be skipped: it needs a, which is failed/);
  await expect(rerun(db.pool, run, 'x')).rejects.toMatchObject({ code: 'not_found' });
  const well = await submit(db.pool, { a: {} });
  await work(db.pool);
  await expect(rerun(db.pool, well, 'failed')).rejects.toMatchObject({ code: 'conflict' });
  const none = '0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e70';
  await expect(rerun(db.pool, none, undefined)).rejects.toMatchObject({ code: 'not_found' });
  const event = await db.pool.query<{ id: string }>(`select wfg_enqueue('x') as id`);
  await expect(rerun(db.pool, event.rows[0]?.id ?? '', undefined)).rejects.toThrow(/requeue an event/);
});

test('a run of 10,000 jobs in a chain is rerun from its middle', { timeout: 120_000 }, async () => {
  await using db = await testDatabase();
  const jobs = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [`j${n}`, n === 0 ? {} : { needs: `j${n - 1}` }]),
  );
  const first = await submit(db.pool, jobs);
  await work(db.pool, { j0: FAILED });
  const { run_id: second } = await rerun(db.pool, first, 'failed');
  await advance(db.pool);
  await work(db.pool, { j1: FAILED });
  expect(await runState(db.pool, second)).toBe('failed');
});

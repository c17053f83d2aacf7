// Conditions and expressions in the rows: who runs after what, with which values, and what a cancel spares.
import type { DefinedJob } from '@wfg/shared/contract/definition';
import { withTx } from '@wfg/shared/db/tx';
import { cancelRuns } from '@wfg/shared/queries/cancel';
import { expireJobs, timeOutRuns } from '@wfg/shared/queries/expire';
import { readRun } from '@wfg/shared/queries/run';
import { submitRun } from '@wfg/shared/queries/submit';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { advance, cancel, claim, finish, moveClock, runState, states } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';

type Given = Partial<Omit<DefinedJob, 'id'>>;

async function submit(
  pool: Pool,
  given: Record<string, Given>,
  run: { timeout?: number } = {},
): Promise<string> {
  const jobs = Object.entries(given).map(([id, job]) => ({
    id,
    name: id,
    needs: [],
    run: job.uses ? null : 'true',
    steps: null,
    env: {},
    timeout: null,
    labels: [],
    max_retries: 0,
    backoff: null,
    priority: 0,
    metadata: {},
    ports: [],
    children: null,
    collapsed: false,
    uses: null,
    with: null,
    condition: null,
    tolerates: 'nothing' as const,
    mask: [],
    not_on: [],
    expires_in: null,
    ...job,
  }));
  const definition = {
    name: 'test',
    trigger: '',
    schedules: [],
    env: { PLACE: 'here' },
    timeout: run.timeout ?? null,
    jobs,
  };
  return (await submitRun(pool, null, definition, {})).run_id;
}

async function end(pool: Pool, told: Record<string, Parameters<typeof finish>[2]>) {
  for (const job of await claim(pool)) {
    const result = told[job.job_id];
    if (result) await finish(pool, job, result);
  }
  await advance(pool);
}

const failed = { outcome: 'failed', retryable: false, error: 'no' } as const;
const onFailure = { condition: 'failure()', tolerates: 'failure' } as const;
const always = { condition: 'always()', tolerates: 'cancel' } as const;

test('after a failure only what asks for it runs, and what is below that is skipped', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {
    a: {},
    ordinary: { needs: ['a'] },
    rescue: { needs: ['a'], ...onFailure },
    below: { needs: ['rescue'] },
    tidy: { needs: ['ordinary', 'rescue'], ...always },
  });
  await advance(db.pool);
  await end(db.pool, { a: failed });
  expect(await states(db.pool, run)).toMatchObject({
    ordinary: 'skipped',
    rescue: 'pending',
    tidy: 'blocked',
  });
  await end(db.pool, { rescue: {} });
  expect(await states(db.pool, run)).toMatchObject({ below: 'skipped', tidy: 'pending' });
  await end(db.pool, { tidy: {} });
  expect(await runState(db.pool, run)).toBe('failed');
});

test('a false condition skips the job and what needs it, and the run completes', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {
    root: { condition: "env.PLACE == 'there'" },
    a: {},
    b: { needs: ['a'], condition: "needs.a.outputs.go == 'yes'" },
    c: { needs: ['b'] },
    rescue: { needs: ['a'], ...onFailure },
  });
  await advance(db.pool);
  expect(await states(db.pool, run)).toMatchObject({ root: 'skipped', a: 'pending', b: 'blocked' });
  await end(db.pool, { a: { outputs: { go: 'no' } } });
  expect(await states(db.pool, run)).toEqual({
    root: 'skipped',
    a: 'completed',
    b: 'skipped',
    c: 'skipped',
    rescue: 'skipped',
  });
  expect(await runState(db.pool, run)).toBe('completed');
  const found = await readRun(db.pool, run);
  expect(found?.jobs.map((job) => job.error)).toEqual([
    "its if is false: env.PLACE == 'there'",
    null,
    "its if is false: needs.a.outputs.go == 'yes'",
    'needs b, which was skipped',
    'its if is false: failure()',
  ]);
});

test('what is claimed has the values of expressions, in env, steps and payload', async () => {
  await using db = await testDatabase();
  await submit(db.pool, {
    a: {},
    b: {
      needs: ['a'],
      condition: 'success()',
      run: null,
      env: { VERSION: 'v${{ needs.a.outputs.version }}' },
      steps: [
        { label: 'one', run: 'echo', env: { V: '${{ env.VERSION }}!' }, timeout: null, if: null },
        { label: 'two', run: 'echo', env: {}, timeout: null, if: 'failure()' },
      ],
    },
    c: {
      needs: ['a'],
      condition: 'success()',
      uses: 'ship',
      with: { n: '${{ fromJSON(needs.a.outputs.n) }}' },
    },
  });
  await end(db.pool, { a: { outputs: { version: '1.2', n: '12345678901234567890' } } });
  const jobs = await claim(db.pool, { labels: [':event ship'] });
  expect(jobs.find((job) => job.job_id === 'b')?.spec).toMatchObject({
    env: { VERSION: 'v1.2' },
    steps: [
      { env: { V: 'v1.2!' }, on_success: true, on_failure: false },
      { on_success: false, on_failure: true },
    ],
  });
  const shipped = jobs.find((job) => job.job_id === 'c');
  expect(shipped).toMatchObject({ kind: 'event', workflow_type: 'ship' });
  expect(JSON.stringify(shipped?.payload)).toBe('{"n":12345678901234567890}');
});

test('what cannot be evaluated fails its job with the reason, and the run', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {
    a: {},
    b: { needs: ['a'], condition: 'fromJSON(needs.a.outputs.flags).go' },
    c: { needs: ['b'] },
  });
  await end(db.pool, { a: { outputs: { flags: 'not json' } } });
  expect(await states(db.pool, run)).toEqual({ a: 'completed', b: 'failed', c: 'skipped' });
  expect((await readRun(db.pool, run))?.jobs[1]?.error).toMatch(/^if: fromJSON/);
  expect(await runState(db.pool, run)).toBe('failed');
});

test('a cancel spares what always runs, until it is forced', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {
    a: {},
    b: { needs: ['a'] },
    tidy: { needs: ['b'], ...always },
    told: { needs: ['b'], condition: 'cancelled()', tolerates: 'cancel' },
    last: { needs: ['tidy'] },
  });
  await advance(db.pool);
  const [a] = await claim(db.pool);
  await cancel(db.pool, run);
  if (a) await finish(db.pool, a);
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({
    a: 'cancelled',
    b: 'cancelled',
    tidy: 'pending',
    told: 'pending',
    last: 'cancelled',
  });
  expect(await readRun(db.pool, run)).toMatchObject({ status: 'cancelling' });
  await cancel(db.pool, run);
  await advance(db.pool);
  expect(await states(db.pool, run)).toMatchObject({ tidy: 'pending' });
  await end(db.pool, { told: {} });
  await withTx(db.pool, (tx) => cancelRuns(tx, [run], true));
  await advance(db.pool);
  expect((await readRun(db.pool, run))?.jobs.find((job) => job.job_id === 'tidy')?.cancelling).toBe(true);
});

test('a chain of conditions that are all false is settled in one go', async () => {
  await using db = await testDatabase();
  const chain = Object.fromEntries(
    Array.from({ length: 120 }, (_, n): [string, Given] => [
      `j${n}`,
      { needs: n ? [`j${n - 1}`] : [], condition: 'always() && false', tolerates: 'cancel' },
    ]),
  );
  const run = await submit(db.pool, chain);
  await advance(db.pool);
  expect(new Set(Object.values(await states(db.pool, run)))).toEqual(new Set(['skipped']));
  expect(await runState(db.pool, run)).toBe('completed');
});

test('a run out of time: what waits is cancelled, what runs ends failed, and so does the run', async () => {
  await using db = await testDatabase();
  const run = await submit(
    db.pool,
    { a: {}, b: { needs: ['a'] }, tidy: { needs: ['b'], ...always } },
    { timeout: 60 },
  );
  const [a] = await claim(db.pool);
  expect(await withTx(db.pool, (tx) => timeOutRuns(tx, 10))).toEqual([]);
  await moveClock(db.pool, '2 minutes');
  expect(await withTx(db.pool, (tx) => timeOutRuns(tx, 10))).toEqual([run]);
  expect(await withTx(db.pool, (tx) => timeOutRuns(tx, 10))).toEqual([]);
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'active', b: 'cancelled', tidy: 'cancelled' });
  expect(a && (await finish(db.pool, a))).toMatchObject({ state: 'failed' });
  await advance(db.pool);
  expect(await readRun(db.pool, run)).toMatchObject({
    status: 'failed',
    error: 'timeout after 60 s',
    jobs: [
      { state: 'failed', error: 'the time of its run is over' },
      { state: 'cancelled' },
      { state: 'cancelled' },
    ],
  });
});

test('a cancel is one also where only jobs that it spares are left', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {}, tidy: { needs: ['a'], ...always } });
  await end(db.pool, { a: {} });
  await cancel(db.pool, run);
  await end(db.pool, { tidy: {} });
  expect(await states(db.pool, run)).toEqual({ a: 'completed', tidy: 'completed' });
  expect(await runState(db.pool, run)).toBe('cancelled');
});

test('a run whose jobs ended before its time was found to be over is not out of time', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {} }, { timeout: 60 });
  for (const job of await claim(db.pool)) await finish(db.pool, job);
  await moveClock(db.pool, '2 minutes');
  expect(await timeOutRuns(db.pool, 10)).toEqual([run]);
  await advance(db.pool);
  expect(await readRun(db.pool, run)).toMatchObject({ status: 'completed', error: null });
});

test('a job of a graph expires when nobody begins it in time after its release', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, {
    a: {},
    b: { needs: ['a'], labels: ['gpu'], expires_in: 60 },
    c: { needs: ['b'] },
  });
  await moveClock(db.pool, '1 hour');
  expect(await expireJobs(db.pool, 10)).toEqual([]);
  await end(db.pool, { a: {} });
  await moveClock(db.pool, '2 hours');
  expect(await expireJobs(db.pool, 10)).toMatchObject([{ run_id: run }]);
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'completed', b: 'failed', c: 'skipped' });
});

test('a condition over more outputs than can be read fails its job, and holds up nobody', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {}, b: { needs: ['a'], condition: "needs.a.outputs.x != ''" } });
  const [a] = await claim(db.pool);
  expect(a && (await finish(db.pool, a))).toMatchObject({ state: 'completed' });
  await db.pool.query(
    `update wfg_jobs set outputs = json_build_object('x', repeat('x', 68000000)) where job_id = 'a'`,
  );
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'completed', b: 'failed' });
  expect((await readRun(db.pool, run))?.jobs[1]?.error).toMatch(/more than 64 MiB/);
});

// Results: fenced by the lease, whole in one statement, answered the same when repeated.
import { finishJobs } from '@wfg/shared/queries/finish';
import { renewLeases } from '@wfg/shared/queries/leases';
import { expect, test } from 'vitest';
import {
  advance,
  cancel,
  claim,
  finish,
  moveClock,
  reportOf,
  runState,
  states,
  submit,
} from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';
import { reapExpired } from '@wfg/shared/queries/reap';

async function one(db: Awaited<ReturnType<typeof testDatabase>>) {
  const [job] = await claim(db.pool, { limit: 1 });
  if (!job) throw new Error('nothing to claim');
  return job;
}

test('a completed job keeps its outputs, and a repeated report is told so, even after its run has ended', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {} });
  const job = await one(db);
  expect(await finish(db.pool, job, { outputs: { version: '1' } })).toMatchObject({ answer: 'applied' });
  expect(await finish(db.pool, job)).toMatchObject({ answer: 'already', state: 'completed' });
  await advance(db.pool);
  expect(await runState(db.pool, run)).toBe('completed');
  expect(await finish(db.pool, job)).toMatchObject({ answer: 'already' });
  const { rows } = await db.pool.query('select outputs from wfg_artifacts where run_id = $1', [run]);
  expect(rows).toEqual([{ outputs: { version: '1' } }]);
});

test('a failure is retried within the budget, each attempt on record, then final', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: { retries: 2 } });
  for (const expected of ['pending', 'pending', 'failed']) {
    const job = await one(db);
    const told = { outcome: 'failed', error: 'exit code 3: no', exit_code: 3, log_lines: 2 } as const;
    expect(await finish(db.pool, job, told)).toMatchObject({ answer: 'applied', state: expected });
  }
  await advance(db.pool);
  expect(await runState(db.pool, run)).toBe('failed');
  const { rows } = await db.pool.query(
    'select attempt, try, outcome, error, exit_code, log_lines from wfg_attempts where run_id = $1 order by 1',
    [run],
  );
  const record = { outcome: 'failed', error: 'exit code 3: no', exit_code: 3, log_lines: 2 };
  expect(rows).toEqual([
    { attempt: 0, try: 1, ...record },
    { attempt: 1, try: 2, ...record },
  ]);
});

test('a failure that is not retryable is final at once', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: { retries: 2 } });
  const told = { outcome: 'failed', retryable: false, error: 'bad input' } as const;
  expect(await finish(db.pool, await one(db), told)).toMatchObject({ state: 'failed' });
  expect(await states(db.pool, run)).toEqual({ a: 'failed' });
});

test('a hand-back costs no try, and its attempt number is not used again', async () => {
  await using db = await testDatabase();
  await submit(db.pool, { a: {} });
  const first = await one(db);
  const told = { outcome: 'handed_back', error: 'shutdown' } as const;
  expect(await finish(db.pool, first, told)).toMatchObject({ state: 'pending' });
  // Why is told of the attempt: nothing went wrong with the job.
  const { rows } = await db.pool.query<{ of_job: string | null; of_attempt: string | null }>(
    'select j.error as of_job, a.error as of_attempt from wfg_jobs j join wfg_attempts a using (run_id, position)',
  );
  expect(rows).toEqual([{ of_job: null, of_attempt: 'shutdown' }]);
  const second = await one(db);
  expect(second).toMatchObject({ attempt: 1, tries: 1 });
  expect(await finish(db.pool, first)).toMatchObject({ answer: 'already' });
  expect(await finish(db.pool, second)).toMatchObject({ answer: 'applied', state: 'completed' });
});

test('what may be claimed again at once says in which lane, and nothing else does', async () => {
  await using db = await testDatabase();
  const backoff = { Fixed: { delay_secs: 60 } };
  await submit(db.pool, { a: { retries: 1 }, b: { retry: { max_retries: 1, backoff } }, c: {}, d: {} });
  const [a, b, c, d] = await claim(db.pool);
  if (!a || !b || !c || !d) throw new Error('nothing to claim');
  const failed = { outcome: 'failed' } as const;
  const finished = [
    await finish(db.pool, a, failed),
    await finish(db.pool, b, failed),
    await finish(db.pool, c, { outcome: 'handed_back' }),
    await finish(db.pool, d),
  ];
  const lane = expect.stringMatching(/^-?\d+$/);
  expect(finished).toMatchObject([{ lane }, { lane: null }, { lane }, { lane: null }]);
  expect(await finish(db.pool, a, failed)).toMatchObject({ answer: 'already', lane: null });
});

test('once the reaper has taken a lease back, its late worker changes nothing and is told so', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: { retries: 1 } });
  const late = await one(db);
  await moveClock(db.pool, '31 seconds');
  expect(await reapExpired(db.pool, 10)).toMatchObject([{ job_id: 'a', worker_id: 'w1', state: 'pending' }]);
  expect(await renewLeases(db.pool, [late])).toEqual([
    { index: 0, held: false, cancelled: false, renewed: false },
  ]);
  expect(await finish(db.pool, late, { outputs: { late: 'yes' } })).toMatchObject({ answer: 'lost' });
  const current = await one(db);
  expect(await finish(db.pool, late)).toMatchObject({ answer: 'lost', state: 'active' });
  expect(await renewLeases(db.pool, [late, current])).toMatchObject([
    { held: false },
    { held: true, renewed: true },
  ]);
  await finish(db.pool, current, { outputs: { right: 'yes' } });
  const { rows } = await db.pool.query('select outputs from wfg_artifacts where run_id = $1', [run]);
  expect(rows).toEqual([{ outputs: { right: 'yes' } }]);
});

test('an expired lease that nobody has taken back still counts', async () => {
  await using db = await testDatabase();
  await submit(db.pool, { a: {} });
  const job = await one(db);
  await moveClock(db.pool, '1 hour');
  expect(await renewLeases(db.pool, [job])).toMatchObject([{ held: true }]);
  expect(await reapExpired(db.pool, 10)).toEqual([]);
  expect(await finish(db.pool, job)).toMatchObject({ answer: 'applied' });
});

test('a crash loop ends: lost leases of a command are charged', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: { retries: 2 } });
  for (let hours = 1; hours <= 3; hours++) {
    await one(db);
    await moveClock(db.pool, `${hours} hours`);
    await reapExpired(db.pool, 10);
  }
  expect(await claim(db.pool)).toEqual([]);
  await advance(db.pool);
  expect(await runState(db.pool, run)).toBe('failed');
});

test('whatever the report says, a job whose cancel was asked for ends cancelled, without outputs', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: { retries: 3 }, b: { needs: 'a' } });
  const job = await one(db);
  await cancel(db.pool, run);
  expect(await renewLeases(db.pool, [job])).toMatchObject([{ held: true, cancelled: true }]);
  expect(await finish(db.pool, job, { outputs: { x: '1' } })).toMatchObject({
    answer: 'applied',
    state: 'cancelled',
  });
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'cancelled', b: 'cancelled' });
  expect(await runState(db.pool, run)).toBe('cancelled');
  const { rows } = await db.pool.query('select from wfg_history where outputs is not null');
  expect(rows).toEqual([]);
});

test('a result whose row is locked is answered busy and holds up no other', async () => {
  await using db = await testDatabase();
  await submit(db.pool, { a: {}, b: {} });
  const [a, b] = await claim(db.pool);
  if (!a || !b) throw new Error('nothing to claim');
  const holder = await db.pool.connect();
  await holder.query('begin');
  await holder.query("select from wfg_jobs where job_id = 'a' for update");
  const answers = await finishJobs(db.pool, [reportOf(a), reportOf(b)]);
  expect(answers).toMatchObject([{ answer: 'busy' }, { answer: 'applied' }]);
  await holder.query('rollback');
  holder.release();
  expect(await finish(db.pool, a)).toMatchObject({ answer: 'applied' });
});

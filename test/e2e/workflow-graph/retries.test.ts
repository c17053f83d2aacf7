// Failures and what follows from them: rows 45 to 50, 52 and 53.
import { Attempt, Job } from '@wfg/shared/contract/job';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { moveClock } from '../../support/engine.ts';
import { startWalk, type Walk } from '../../support/graph-user.ts';
import { waitFor } from '../../support/wait-for.ts';

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk({ counts: { reaper: 0, worker: 0 } });
});

afterAll(() => walk[Symbol.asyncDispose]());
afterEach(() => walk.leave());

/** Lets the next job that can be claimed fail; returns it, and what became of it. */
async function failNext(retryable = true): Promise<{ job_id: string; attempt: number; state: unknown }> {
  const claimed = await walk.claimed();
  const { status, body } = await walk.tell(claimed, 'fail', { error: 'exit code 1: no', retryable });
  expect(status).toBe(200);
  const { job_id, attempt } = claimed.job;
  return { job_id, attempt, state: Object(body).state };
}

async function ended(run: string): Promise<string> {
  return waitFor('the run to end', async () => {
    const { body } = await walk.ask('GET', `/api/runs/${run}`);
    return Object(body).finished_at !== null && Object(body).status;
  });
}

test('45, 49: a failure that may be retried queues the job again, and the next attempt is shown', async () => {
  const { id } = await walk.start({ id: 'a', max_retries: 2 });
  expect(await failNext()).toEqual({ job_id: 'a', attempt: 0, state: 'pending' });
  expect(await walk.jobs(id)).toMatchObject({ a: { status: 'queued', output: null, duration_secs: null } });
  const second = await walk.claimed();
  expect(second.job).toMatchObject({ attempt: 1, delayed_until_ms: expect.any(Number) });
  expect(await walk.jobs(id)).toMatchObject({ a: { status: 'running', attempt: 1 } });
  expect((await walk.tell(second, 'complete')).status).toBe(200);
  expect(await walk.jobs(id)).toMatchObject({ a: { status: 'success', attempt: 1, output: null } });
});

test('46: a failure that may not be retried is one at once, and its text is kept', async () => {
  const { id, run } = await walk.start({ id: 'a', max_retries: 3 }, { id: 'b', max_retries: 3 });
  const text = `exit code 3: ${'x'.repeat(4_096)}`;
  await walk.tell(await walk.claimed(), 'fail', { error: text, retryable: false });
  await walk.tell(await walk.claimed(), 'fail', { error: 'by default' });
  expect(await walk.claim()).toBeNull();
  expect(await ended(run)).toBe('failed');
  expect(await walk.jobs(id)).toMatchObject({
    a: { status: 'failure', output: text, attempt: 0, duration_secs: expect.any(Number) },
    b: { status: 'failure', output: 'by default' },
  });
});

test('47, 48: a job is executed once and as often again as it may be retried, a dependant too', async () => {
  const { id, run } = await walk.start(
    { id: 'a', max_retries: 2 },
    { id: 'b', depends_on: ['a'], max_retries: 1 },
  );
  expect([(await failNext()).attempt, (await failNext()).attempt]).toEqual([0, 1]);
  await walk.tell(await walk.claimed(), 'complete');
  expect(await failNext()).toEqual({ job_id: 'b', attempt: 0, state: 'pending' });
  expect(await failNext()).toEqual({ job_id: 'b', attempt: 1, state: 'failed' });
  expect(await ended(run)).toBe('failed');
  expect(await walk.claim()).toBeNull();
  expect(await walk.statuses(id)).toEqual({ a: 'success', b: 'failure' });
  const { body } = await walk.ask('GET', `/api/runs/${run}/jobs/a/attempts`);
  expect(body).toMatchObject([
    { attempt: 0, try: 1, outcome: 'failed', error: 'exit code 1: no', exit_code: 1 },
    { attempt: 1, try: 2, outcome: 'failed' },
    { attempt: 2, try: 3, outcome: 'completed', error: null },
  ]);
});

const FIXED = '{ Fixed: { delay_secs: 100 } }';
const EXPONENTIAL = '{ Exponential: { base_secs: 100, max_secs: 300 } }';

/** The job `a` of a new run, with retries after such waits. */
async function startWithBackoff(backoff: string): Promise<() => Promise<Job & { waited: number }>> {
  const retry = `{ max_retries: 4, backoff: ${backoff} }`;
  const run = await walk.run(await walk.put('w', `name: n\njobs:\n  a: { run: x, retry: ${retry} }\n`));
  return async () => {
    const job = Job.parse((await walk.ask('GET', `/api/runs/${run}/jobs/a`)).body);
    const { body } = await walk.ask('GET', `/api/runs/${run}/jobs/a/attempts`);
    const failed = z.array(Attempt).parse(body).at(-1)?.finished_at ?? '';
    return { ...job, waited: (Date.parse(job.run_at) - Date.parse(failed)) / 1_000 };
  };
}

test('50: without backoff a job can be claimed again at once', async () => {
  const job = await startWithBackoff('None');
  for (let round = 0; round < 4; round++) {
    expect((await failNext()).state).toBe('pending');
    expect((await job()).waited).toBe(0);
  }
  expect((await failNext()).state).toBe('failed');
});

test.each([
  [FIXED, [100, 100, 100, 100]],
  [EXPONENTIAL, [100, 200, 300, 300]],
])('50: with backoff %s a job waits %j seconds, and is not given out before', async (backoff, waits) => {
  const job = await startWithBackoff(backoff);
  let passed = 0;
  for (const secs of waits) {
    expect((await failNext()).state).toBe('pending');
    const { run_at, waited } = await job();
    expect(waited).toBe(secs);
    await moveClock(walk.db.pool, `${passed + secs - 20} s`);
    expect(await walk.claim()).toBeNull();
    expect((await job()).waiting).toMatchObject({ reason: 'delayed', until: run_at });
    passed += secs;
    await moveClock(walk.db.pool, `${passed} s`);
  }
  expect((await failNext()).state).toBe('failed');
  await moveClock(walk.db.pool, '0');
});

test('50: the wait survives a restart of everything', async () => {
  await startWithBackoff(FIXED);
  expect((await failNext()).state).toBe('pending');
  for (const name of ['api', 'scheduler'] as const) await walk.cluster.kill(name);
  await walk.cluster.of('api')[0]?.logged('listening');
  expect(await walk.claim()).toBeNull();
  await moveClock(walk.db.pool, '101 s');
  expect((await walk.claimed()).job).toMatchObject({ job_id: 'a', attempt: 1 });
  await moveClock(walk.db.pool, '0');
});

test('52: what needs a failed job is skipped, however far away, and nothing else is', async () => {
  const { id, run } = await walk.start(
    { id: 'a' },
    { id: 'x' },
    { id: 'b', depends_on: ['a'] },
    { id: 'c', depends_on: ['b', 'x'] },
    { id: 'd', depends_on: ['c'] },
    { id: 'y', depends_on: ['x'] },
  );
  expect((await failNext(false)).job_id).toBe('a');
  const x = await walk.claimed();
  const skipped = { b: 'skipped', c: 'skipped', d: 'skipped' };
  await waitFor('the rest to be skipped', async () => (await walk.statuses(id)).d === 'skipped');
  expect(await walk.statuses(id)).toEqual({ a: 'failure', x: 'running', ...skipped, y: 'queued' });
  await walk.tell(x, 'complete');
  await walk.tell(await walk.claimed(), 'complete');
  expect(await ended(run)).toBe('failed');
  expect(await walk.statuses(id)).toEqual({ a: 'failure', x: 'success', ...skipped, y: 'success' });
});

test('53: to skip what follows leaves alone what has ended or was cancelled', async () => {
  const { id, run } = await walk.start(
    { id: 'a' },
    { id: 'x' },
    { id: 'b', depends_on: ['a'] },
    { id: 'c', depends_on: ['a', 'x'] },
    { id: 'd', depends_on: ['b'] },
    { id: 'z', depends_on: ['x'] },
  );
  const a = await walk.claimed();
  await walk.tell(await walk.claimed(), 'complete');
  await walk.tell(await walk.claimed(), 'complete');
  expect((await walk.ask('POST', `/api/runs/${run}/jobs/b/cancel`)).status).toBe(202);
  await walk.tell(a, 'fail', { error: 'no', retryable: false });
  expect(await ended(run)).toBe('failed');
  expect(await walk.statuses(id)).toEqual({
    a: 'failure',
    x: 'success',
    b: 'cancelled',
    c: 'skipped',
    d: 'skipped',
    z: 'success',
  });
});

// Cancelling, as a worker over HTTP sees it: rows 54 to 59.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Claimed } from '@wfg/shared/contract/queued-job';
import { startWalk, type Walk } from '../../support/graph-user.ts';
import { waitFor } from '../../support/wait-for.ts';

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk({ counts: { reaper: 0, worker: 0 } });
});

afterAll(() => walk[Symbol.asyncDispose]());
afterEach(() => walk.leave());

const cancel = (id: string) => walk.ask('POST', `/api/workflows/${id}/cancel`);
const cancelJob = (run: string, job: string) => walk.ask('POST', `/api/runs/${run}/jobs/${job}/cancel`);
const isCancelled = async (id: string, job: string) =>
  (await walk.ask('GET', `/api/jobs/${id}/${job}/cancelled`)).body;
const shownJob = async (run: string, job: string) =>
  Object((await walk.ask('GET', `/api/runs/${run}/jobs/${job}`)).body);

async function ended(run: string): Promise<string> {
  return waitFor('the run to end', async () => {
    const { body } = await walk.ask('GET', `/api/runs/${run}`);
    return Object(body).finished_at !== null && Object(body).status;
  });
}

const ACKNOWLEDGED = { status: 200, body: { state: 'cancelled' } };

test('54: what waits in a cancelled workflow is cancelled at once and given to nobody', async () => {
  const { id, run } = await walk.start({ id: 'a' }, { id: 'b', depends_on: ['a'] }, { id: 'done' });
  await walk.ask('POST', `/api/runs/${run}/jobs/a/cancel`);
  await walk.tell(await walk.claimed(), 'complete');
  const { status, body } = await cancel(id);
  expect([status, body]).toEqual([202, '']);
  expect(await walk.statuses(id)).toMatchObject({ a: 'cancelled', done: 'success' });
  expect(await walk.claim()).toBeNull();
  expect(await ended(run)).toBe('cancelled');
});

test('54: a cancel may be repeated, also when all has ended', async () => {
  const { id, run } = await walk.start({ id: 'a' });
  expect([(await cancel(id)).status, (await cancel(id)).status]).toEqual([202, 202]);
  expect(await ended(run)).toBe('cancelled');
  expect((await cancel(id)).status).toBe(202);
  expect((await walk.ask('POST', `/api/runs/${run}/cancel`)).status).toBe(202);
});

/** More than can be claimed before the cancel is asked for. */
const JOBS = 1_000;

test('54: once a cancel is answered no claim returns one of its jobs, however many are claiming', async () => {
  const { id } = await walk.start(...Array.from({ length: JOBS }, (_, n) => ({ id: `job-${n}` })));
  const claims: { sentAt: number; claimed: Claimed }[] = [];
  const over = new AbortController();
  const claimers = Array.from({ length: 50 }, async (_, n) => {
    while (!over.signal.aborted) {
      const sentAt = performance.now();
      const claimed = await walk.claim({ worker_id: `w${n}` });
      if (claimed) claims.push({ sentAt, claimed });
    }
  });
  await waitFor('some jobs to be claimed', () => claims.length > 50);
  expect((await cancel(id)).status).toBe(202);
  const answeredAt = performance.now();
  // They go on claiming meanwhile.
  expect(await Promise.all(Array.from({ length: 50 }, () => walk.claim()))).toEqual(Array(50).fill(null));
  over.abort();
  await Promise.all(claimers);
  expect(claims.filter(({ sentAt }) => sentAt > answeredAt)).toEqual([]);
  expect(claims.length).toBeLessThan(JOBS);
  // What was given out by then is told so, and nothing else is left.
  const states = await walk.statuses(id);
  expect(Object.values(states).filter((state) => state === 'running')).toHaveLength(claims.length);
  for (const { claimed } of claims.slice(0, 10)) {
    expect(states[claimed.job.job_id]).toBe('running');
    expect((await walk.tell(claimed, 'heartbeat')).body).toEqual({ cancelled: true });
  }
});

test('55: to cancel what is unknown is 404', async () => {
  expect(await cancel('none')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  const { run } = await walk.start({ id: 'a' });
  expect((await walk.ask('POST', `/api/runs/${crypto.randomUUID()}/cancel`)).status).toBe(404);
  expect((await cancelJob(run, 'none')).status).toBe(404);
  expect(await isCancelled('none', 'a')).toBe(false);
});

test('56: a worker hears of a cancel by the job’s name and by its heartbeat', async () => {
  const { id, run } = await walk.start({ id: 'a' }, { id: 'b' });
  const a = await walk.claimed();
  expect(await isCancelled(id, 'a')).toBe(false);
  expect((await walk.tell(a, 'heartbeat')).body).toEqual({ cancelled: false });
  await cancel(id);
  expect(await isCancelled(id, 'a')).toBe(true);
  expect(await isCancelled(id, 'b')).toBe(true);
  expect((await walk.tell(a, 'heartbeat')).body).toEqual({ cancelled: true });
  expect(await shownJob(run, 'a')).toMatchObject({ state: 'active', cancelling: true });
  expect(await walk.statuses(id)).toEqual({ a: 'running', b: 'cancelled' });
  // Its log is still taken: it may say how it stops.
  const chunk = { workflow_id: id, job_id: 'a', sequence: 0, data: 'x\n', timestamp_ms: 1, stream: 'stdout' };
  expect((await walk.tell(a, 'logs', { chunks: [chunk] })).status).toBe(200);
  expect(await walk.tell(a, 'fail', { error: 'cancelled', retryable: true })).toEqual(ACKNOWLEDGED);
});

test('57: a running job that was cancelled ends so, and is not tried again', async () => {
  const { id, run } = await walk.start({ id: 'a', max_retries: 2 }, { id: 'b', depends_on: ['a'] });
  const a = await walk.claimed();
  await cancel(id);
  const failure = { error: 'cancelled', retryable: true };
  expect(await walk.tell(a, 'fail', failure)).toEqual(ACKNOWLEDGED);
  expect(await ended(run)).toBe('cancelled');
  expect(await walk.tell(a, 'fail', failure)).toEqual(ACKNOWLEDGED);
  expect(await walk.claim()).toBeNull();
  expect(await walk.jobs(id)).toMatchObject({
    a: { status: 'cancelled', output: null },
    b: { status: 'cancelled' },
  });
  const { body } = await walk.ask('GET', `/api/runs/${run}/jobs/a/attempts`);
  expect(body).toMatchObject([{ attempt: 0, outcome: 'cancelled' }]);
});

test('58: a success that comes after the cancel is none, and its outputs are dropped', async () => {
  const { id, run } = await walk.start({ id: 'a' }, { id: 'b', depends_on: ['a'] });
  const a = await walk.claimed();
  await cancel(id);
  expect(await walk.tell(a, 'complete', { outputs: { late: 'x' } })).toEqual(ACKNOWLEDGED);
  expect(await ended(run)).toBe('cancelled');
  expect(await walk.statuses(id)).toEqual({ a: 'cancelled', b: 'cancelled' });
  expect((await walk.ask('GET', `/api/runs/${run}/jobs/a/outputs`)).body).toEqual({});
});

test('59: one job is cancelled alone: what needs it is skipped, the rest goes on', async () => {
  const { id, run } = await walk.start(
    { id: 'a' },
    { id: 'b' },
    { id: 'after-a', depends_on: ['a'] },
    { id: 'after-b', depends_on: ['b'] },
  );
  expect((await cancelJob(run, 'a')).status).toBe(202);
  expect(await shownJob(run, 'a')).toMatchObject({ state: 'cancelled', cancelling: false });
  await walk.tell(await walk.claimed(), 'complete');
  const last = await walk.claimed();
  expect(last.job.job_id).toBe('after-b');
  await walk.tell(last, 'complete');
  expect(await ended(run)).toBe('cancelled');
  expect(await walk.statuses(id)).toEqual({
    a: 'cancelled',
    b: 'success',
    'after-a': 'skipped',
    'after-b': 'success',
  });
  expect((await cancelJob(run, 'a')).status).toBe(202);
  expect((await cancelJob(run, 'b')).status).toBe(409);
});

test('59: one running job is asked to stop, and its report acknowledges it', async () => {
  const { id, run } = await walk.start(
    { id: 'a', max_retries: 1 },
    { id: 'b' },
    { id: 'c', depends_on: ['a'] },
  );
  const [a, b] = [await walk.claimed(), await walk.claimed()];
  expect((await cancelJob(run, 'a')).status).toBe(202);
  expect([await isCancelled(id, 'a'), await isCancelled(id, 'b')]).toEqual([true, false]);
  expect((await walk.tell(a, 'heartbeat')).body).toEqual({ cancelled: true });
  expect((await walk.tell(b, 'heartbeat')).body).toEqual({ cancelled: false });
  expect(await walk.tell(a, 'complete', { outputs: { x: '1' } })).toEqual(ACKNOWLEDGED);
  expect((await walk.tell(b, 'complete')).body).toEqual({ state: 'completed' });
  expect(await ended(run)).toBe('cancelled');
  expect(await walk.statuses(id)).toEqual({ a: 'cancelled', b: 'success', c: 'skipped' });
});

// Leases of workers over HTTP: how long they hold, how they are lost, and how a cancel is heard and acknowledged.
import type { Claimed } from '@wfg/shared/contract/queued-job';
import { reapExpired } from '@wfg/shared/queries/reap';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { advance, moveClock } from '../../support/engine.ts';
import { claimedHttp, claimHttp, emptyTables, startGraph, tell } from '../../support/foreign.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url);
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

beforeEach(() => emptyTables(db.pool));

const LOST = { status: 409, body: { code: 'lease_lost' } };
const REPORTS = [
  ['heartbeat', undefined],
  ['complete', { outputs: {} }],
  ['fail', { error: 'x', retryable: true }],
  ['logs', { chunks: [] }],
] as const;

const start = (...jobs: Record<string, unknown>[]) => startGraph(api, jobs);
const reap = async () => (await reapExpired(db.pool, 10)).map(({ state }) => state);
const isCancelled = async (job: string) => (await api.ask('GET', `/api/jobs/w/${job}/cancelled`)).body;

async function statuses(): Promise<Record<string, string>> {
  const { body } = await api.ask('GET', '/api/workflows/w/status');
  const jobs: { id: string; status: string }[] = Object(body).jobs;
  return Object.fromEntries(jobs.map(({ id, status }) => [id, status]));
}

async function expectLost(claimed: Pick<Claimed, 'lease'>): Promise<void> {
  for (const [what, body] of REPORTS) expect(await tell(api, claimed, what, body)).toMatchObject(LOST);
}

describe('a lease', () => {
  test('holds 30 s unless another time is claimed', async () => {
    await start({ id: 'a' }, { id: 'b' });
    expect((await claimedHttp(api)).lease.ttl_secs).toBe(30);
    expect((await claimedHttp(api, { lease_ttl_secs: 90 })).lease.ttl_secs).toBe(90);
    await moveClock(db.pool, '29 s');
    expect(await reap()).toEqual([]);
    await moveClock(db.pool, '31 s');
    expect(await reap()).toEqual(['failed']);
    await moveClock(db.pool, '91 s');
    expect(await reap()).toEqual(['failed']);
  });

  test('is renewed by the time it was claimed with, but not when that is over', async () => {
    await start({ id: 'a' });
    const claimed = await claimedHttp(api, { lease_ttl_secs: 5 });
    for (const secs of [4, 8, 12]) {
      await moveClock(db.pool, `${secs} s`);
      expect(await tell(api, claimed, 'heartbeat')).toEqual({ status: 200, body: { cancelled: false } });
      expect(await reap()).toEqual([]);
    }
    await moveClock(db.pool, '18 s');
    expect(await tell(api, claimed, 'heartbeat')).toMatchObject(LOST);
    // Until somebody takes the job back its result counts.
    expect(await tell(api, claimed, 'complete')).toEqual({ status: 200, body: { state: 'completed' } });
  });

  test('that was taken back is lost for everything, and what it says changes nothing', async () => {
    await start({ id: 'a', max_retries: 1 }, { id: 'b', depends_on: ['a'] });
    const first = await claimedHttp(api);
    await moveClock(db.pool, '31 s');
    expect(await reap()).toEqual(['pending']);
    await expectLost(first);
    const second = await claimedHttp(api, { worker_id: 'f2' });
    expect(second.job).toMatchObject({ attempt: 1, try: 2 });
    await expectLost(first);
    expect(await tell(api, second, 'heartbeat')).toMatchObject({ status: 200 });
    await moveClock(db.pool, '62 s');
    expect(await reap()).toEqual(['failed']);
    await expectLost(second);
    await advance(db.pool);
    await expectLost(second);
    expect(await statuses()).toEqual({ a: 'failure', b: 'skipped' });
  });

  test('of a job that takes longer than it may is taken back', async () => {
    const a = { run: 'sleep 60', timeout: 10 };
    await api.ask('PUT', '/api/workflows/w', { name: 'w', jobs: { a } });
    await api.ask('POST', '/api/workflows/w/run');
    const claimed = await claimedHttp(api);
    await moveClock(db.pool, '11 s');
    expect(await reap()).toEqual(['failed']);
    await expectLost(claimed);
  });

  test.each([
    ['of nobody', (id: string) => id.replace(/\d+$/, '1')],
    ['of another attempt', (id: string) => id.replace(/\.0\./, '.1.')],
    ['of another job', (id: string) => id.replace(/-1\./, '-2.')],
    ['of another system', () => '3f2b8c1e-58d5-4d0f-9f39-3f6f2d7b8a11'],
    ['out of range', (id: string) => id.replace(/\d+$/, '9223372036854775808')],
  ])('%s is lost', async (_, forge) => {
    await start({ id: 'a' }, { id: 'b' });
    const { lease } = await claimedHttp(api);
    await expectLost({ lease: { ...lease, lease_id: forge(lease.lease_id) } });
    expect((await tell(api, { lease }, 'heartbeat')).status).toBe(200);
  });
});

describe('a cancel', () => {
  const jobs = [{ id: 'a', max_retries: 2 }, { id: 'b' }, { id: 'c', depends_on: ['a'] }];

  test('is heard by name and by the heartbeat; nothing more is given out', async () => {
    await start(...jobs);
    const a = await claimedHttp(api);
    expect(await isCancelled('a')).toBe(false);
    expect((await api.ask('POST', '/api/workflows/w/cancel')).status).toBe(202);
    expect(await isCancelled('a')).toBe(true);
    expect(await tell(api, a, 'heartbeat')).toEqual({ status: 200, body: { cancelled: true } });
    expect(await claimHttp(api)).toBeNull();
    expect(await statuses()).toEqual({ a: 'running', b: 'cancelled', c: 'cancelled' });
    expect(await isCancelled('b')).toBe(true);
  });

  test.each([
    ['fail', { error: 'cancelled', retryable: true }],
    ['complete', { outputs: { late: 'x' } }],
  ])('is acknowledged by %s, and the job is not tried again', async (what, report) => {
    const run = await start(...jobs);
    const a = await claimedHttp(api);
    await api.ask('POST', '/api/workflows/w/cancel');
    const acknowledged = { status: 200, body: { state: 'cancelled' } };
    expect(await tell(api, a, what, report)).toEqual(acknowledged);
    await advance(db.pool);
    expect(await tell(api, a, what, report)).toEqual(acknowledged);
    expect(await statuses()).toEqual({ a: 'cancelled', b: 'cancelled', c: 'cancelled' });
    expect(await claimHttp(api)).toBeNull();
    expect((await api.ask('GET', `/api/runs/${run}/jobs/a/outputs`)).body).toEqual({});
    expect((await api.ask('GET', `/api/runs/${run}`)).body).toMatchObject({ status: 'cancelled' });
  });

  test('of a worker that is gone comes to its end when the lease does', async () => {
    await start(...jobs);
    const a = await claimedHttp(api);
    await api.ask('POST', '/api/workflows/w/cancel');
    await moveClock(db.pool, '31 s');
    expect(await reap()).toEqual(['cancelled']);
    await expectLost(a);
  });

  test('of one run is none of the next', async () => {
    await start(...jobs);
    const old = await claimedHttp(api);
    await api.ask('POST', '/api/workflows/w/cancel');
    await api.ask('POST', '/api/workflows/w/run');
    expect(await isCancelled('a')).toBe(true);
    const next = await claimedHttp(api, { worker_id: 'f2' });
    expect(next.job.job_id).toBe('a');
    // Both go by that name, and the heartbeat knows which is which.
    expect(await isCancelled('a')).toBe(false);
    expect((await tell(api, old, 'heartbeat')).body).toEqual({ cancelled: true });
    expect((await tell(api, next, 'heartbeat')).body).toEqual({ cancelled: false });
    await tell(api, old, 'fail', { error: 'cancelled', retryable: true });
    await tell(api, next, 'complete');
    await advance(db.pool);
    expect(await statuses()).toMatchObject({ a: 'success', b: 'queued' });
    expect(await isCancelled('a')).toBe(false);
  });

  test('is asked about in vain for what is unknown', async () => {
    expect(await api.ask('GET', '/api/jobs/none/a/cancelled')).toMatchObject({ status: 200, body: false });
    expect((await api.ask('POST', '/api/workflows/none/cancel')).status).toBe(404);
  });
});

// Workers over HTTP in the list of workers: how they come, live, work and go.
import { Worker } from '@wfg/shared/contract/worker';
import { enqueueEvent } from '@wfg/shared/queries/enqueue';
import { registerWorker } from '@wfg/shared/queries/workers';
import { reapExpired } from '@wfg/shared/queries/reap';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { startApi, type TestApi } from '../../support/api.ts';
import { moveClock } from '../../support/engine.ts';
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

async function register(body: Record<string, unknown> = {}): Promise<number> {
  const { status } = await api.ask('POST', '/api/workers/register', { worker_id: 'f1', labels: [], ...body });
  return status;
}

async function workers(): Promise<Worker[]> {
  return z.array(Worker).parse((await api.ask('GET', '/api/workers')).body);
}

const heard = async () => (await workers())[0]?.last_heartbeat_ms;

const beat = async (id: string) => (await api.ask('POST', `/api/workers/${id}/heartbeat`)).status;

test('a worker is entered idle, and again when it is started anew', async () => {
  expect(await register({ labels: ['gpu', 'linux'], handlers: ['user.created'] })).toBe(200);
  const [first] = await workers();
  expect(first).toMatchObject({
    worker_id: 'f1',
    labels: ['gpu', 'linux'],
    handlers: ['user.created'],
    status: 'idle',
    current_job: null,
    jobs: [],
  });
  await startGraph(api, [{ id: 'a' }]);
  const claimed = await claimedHttp(api, { labels: ['gpu', 'linux'] });
  expect(await workers()).toMatchObject([{ status: 'busy', current_job: 'a' }]);
  await moveClock(db.pool, '1 s');
  expect(await register()).toBe(200);
  const [again] = await workers();
  expect(again).toMatchObject({ labels: [], handlers: [], tasks: [], status: 'idle', current_job: null });
  expect(again?.registered_at_ms).toBeGreaterThan(first?.registered_at_ms ?? 0);
  // It is the same process after all.
  await tell(api, claimed, 'heartbeat');
  expect(await workers()).toMatchObject([{ status: 'busy', current_job: 'a' }]);
});

test('a worker is busy with what it has claimed until it has reported on it', async () => {
  const run = await startGraph(api, [{ id: 'a' }, { id: 'b' }]);
  const claimed = await claimedHttp(api);
  expect(await workers()).toMatchObject([
    { worker_id: 'f1', status: 'busy', current_job: 'a', jobs: [{ run_id: run, job_id: 'a', attempt: 0 }] },
  ]);
  await tell(api, claimed, 'complete');
  expect(await workers()).toMatchObject([{ status: 'idle', current_job: null }]);
  await tell(api, await claimedHttp(api), 'fail', { error: 'x' });
  expect(await workers()).toMatchObject([{ status: 'idle', current_job: null }]);
});

test('who claims is known, with the labels it claims with', async () => {
  expect(await claimHttp(api, { labels: ['gpu'] })).toBeNull();
  expect(await workers()).toMatchObject([{ worker_id: 'f1', labels: ['gpu'], status: 'idle' }]);
  await claimHttp(api, { labels: ['cpu'] });
  expect(await workers()).toMatchObject([{ labels: ['cpu'] }]);
});

test('a worker that is not heard for 30 s is offline; heartbeats, claims and those of leases are signs of life', async () => {
  await startGraph(api, [{ id: 'a' }]);
  await register();
  const claimed = await claimedHttp(api, { lease_ttl_secs: 600 });
  const signs = [
    () => beat('f1'),
    () => tell(api, claimed, 'heartbeat'),
    () => claimHttp(api),
    () => claimHttp(api, { wait_secs: 1 }),
  ];
  for (const [index, sign] of signs.entries()) {
    await moveClock(db.pool, `${(index + 1) * 31} s`);
    expect(await workers()).toMatchObject([{ status: 'offline' }]);
    await sign();
    expect(await workers()).toMatchObject([{ status: 'busy' }]);
  }
});

test('an idle worker that asks again and again is written down once in a while', async () => {
  await claimHttp(api);
  const first = await heard();
  await moveClock(db.pool, '2 s');
  for (let n = 0; n < 3; n++) await claimHttp(api);
  expect(await heard()).toBe(first);
  await moveClock(db.pool, '6 s');
  await claimHttp(api);
  expect(await heard()).toBeGreaterThan(first ?? 0);
});

test('a worker that is unknown, or has gone, is told so', async () => {
  expect(await beat('nobody')).toBe(404);
  await register();
  expect(await beat('f1')).toBe(200);
  for (let n = 0; n < 2; n++) expect((await api.ask('DELETE', '/api/workers/f1')).status).toBe(204);
  expect(await workers()).toEqual([]);
  expect(await beat('f1')).toBe(404);
});

test('a worker of our own keeps its name, and is beaten for by nobody else', async () => {
  const card = {
    worker_id: 'f1',
    instance: crypto.randomUUID(),
    concurrency: 2,
    version: '1',
    host: 'h',
    labels: ['own'],
    problem: null,
    modules: [],
    handler_concurrency: 3,
  };
  await registerWorker(db.pool, card);
  expect(await register()).toBe(409);
  expect(await beat('f1')).toBe(404);
  await claimHttp(api, { labels: ['x'] });
  expect(await workers()).toMatchObject([{ labels: ['own'], handlers: [], tasks: [], version: '1' }]);
  await moveClock(db.pool, '31 s');
  expect(await register()).toBe(200);
  expect(await workers()).toMatchObject([{ labels: [], version: '', status: 'idle' }]);
});

test('events go to workers that registered for their type alone', async () => {
  const { run_id } = await enqueueEvent(db.pool, {
    workflow_type: 'user.created',
    payload: { id: 7 },
    max_attempts: 3,
    run_at: null,
    expires_in_secs: null,
    priority: 0,
    backoff: null,
    timeout_secs: null,
  });
  await register({ handlers: ['other'] });
  expect(await claimHttp(api)).toBeNull();
  await register({ handlers: ['user.created'] });
  const claimed = await claimedHttp(api);
  expect(claimed.job).toMatchObject({
    job_id: 'main',
    workflow_id: run_id,
    run_id,
    kind: 'event',
    workflow_type: 'user.created',
    payload: { id: 7 },
    command: '',
    retry_policy: { max_retries: 2 },
    required_labels: [],
  });
  const chunk = {
    workflow_id: run_id,
    job_id: 'main',
    sequence: 0,
    data: 'hi\n',
    timestamp_ms: 0,
    stream: 'stdout',
  };
  expect((await tell(api, claimed, 'logs', { chunks: [chunk] })).body).toEqual({ next_sequence: 1 });
  expect((await tell(api, claimed, 'complete')).body).toEqual({ state: 'completed' });
  expect((await tell(api, claimed, 'complete')).body).toEqual({ state: 'completed' });
});

test('the lost lease of an event costs no try', async () => {
  await enqueueEvent(db.pool, {
    workflow_type: 't',
    payload: null,
    max_attempts: 1,
    run_at: null,
    expires_in_secs: null,
    priority: 0,
    backoff: null,
    timeout_secs: null,
  });
  await register({ handlers: ['t'] });
  await claimedHttp(api);
  await moveClock(db.pool, '31 s');
  expect(await reapExpired(db.pool, 10)).toMatchObject([{ state: 'pending' }]);
  expect((await claimedHttp(api)).job).toMatchObject({ attempt: 1, try: 1 });
});

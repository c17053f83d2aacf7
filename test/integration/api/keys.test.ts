// Idempotency-Key and unique_key: what is asked for again is not made again.
import { createWorkflow, createSample } from '@wfg/shared/contract/routes/workflows';
import { createEvent } from '@wfg/shared/contract/routes/events';
import { startRun } from '@wfg/shared/contract/routes/workflow-runs';
import { submitRun } from '@wfg/shared/contract/routes/runs';
import { claimJob } from '@wfg/shared/contract/routes/leases';
import { pruneKeys } from '@wfg/shared/queries/keys';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { claimEvent, finish, moveClock, submit } from '../../support/engine.ts';
import { emptyTables } from '../../support/foreign.ts';
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

beforeEach(async () => {
  await emptyTables(db.pool);
  await db.pool.query('delete from wfg_keys');
});

const TYPE = 'order.placed';
const BODY = { workflow_type: TYPE, payload: { id: 7, items: [1, 2] } };
const JOBS = { name: 'w', jobs: { a: { run: 'true' }, b: { needs: 'a', run: 'true' } } };

const post = (path: string, body: unknown, key?: string) =>
  api.ask('POST', path, body, key === undefined ? {} : { 'idempotency-key': key });

async function count(table: string): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(`select count(*)::int from ${table}`);
  return rows[0]?.count ?? -1;
}

test('the same key and body give the first status with the event as it now is', async () => {
  const first = await post('/workflows', BODY, 'k');
  expect(first.status).toBe(201);
  const again = await post('/workflows', { payload: { items: [1, 2], id: 7 }, workflow_type: TYPE }, 'k');
  expect(again).toMatchObject({ status: 201, body: first.body });
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
  await finish(db.pool, await claimEvent(db.pool, TYPE));
  expect(await post('/workflows', BODY, 'k')).toMatchObject({
    status: 201,
    body: { id: Object(first.body).id, status: 'completed' },
  });
  expect(await count('wfg_jobs')).toBe(0);
  expect((await post('/workflows', BODY, 'another')).body).not.toMatchObject({ id: Object(first.body).id });
  expect(await count('wfg_jobs')).toBe(1);
});

test.for([
  { ...BODY, payload: { id: 8, items: [1, 2] } },
  { ...BODY, payload: { id: 7, items: [2, 1] } },
  { ...BODY, priority: 1 },
  { ...BODY, run_at: '2026-07-01T12:00:00Z' },
])('%j under a used key is refused', async (body) => {
  await post('/workflows', BODY, 'k');
  expect(await post('/workflows', body, 'k')).toMatchObject({ status: 422, body: { code: 'key_reused' } });
  expect(await count('wfg_jobs')).toBe(1);
});

const sendDigits = (digits: string) =>
  api.ask('POST', '/workflows', `{"workflow_type":"${TYPE}","payload":${digits}}`, {
    'content-type': 'application/json',
    'idempotency-key': 'k',
  });

test('every digit of a body counts', async () => {
  expect((await sendDigits('12345678901234567890')).status).toBe(201);
  expect((await sendDigits('12345678901234567891')).status).toBe(422);
  expect((await sendDigits('12345678901234567890')).status).toBe(201);
});

test('a key is 1 to 255 printable characters', async () => {
  expect((await post('/workflows', BODY, 'x'.repeat(255))).status).toBe(201);
  for (const key of ['', 'x'.repeat(256), 'a\tb']) {
    expect(await post('/workflows', BODY, key)).toMatchObject({
      status: 422,
      body: { code: 'invalid_key', detail: 'the Idempotency-Key must be 1 to 255 printable characters' },
    });
  }
  expect(await count('wfg_keys')).toBe(1);
});

test('of many at once one is made', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => post('/workflows', BODY, 'k')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(answers.map(({ body }) => Object(body).id)).size).toBe(1);
  expect(await count('wfg_jobs')).toBe(1);
});

test('a twin that is still being worked on is waited for, and then told of', async () => {
  const twin = await db.pool.connect();
  try {
    const take = `select wfg_take_key($1, 'k', '\\x00', $2)`;
    await twin.query('begin');
    await twin.query(take, ['POST /workflows', null]);
    await twin.query(take, [`unique ${TYPE}`, null]);
    const inUse = { status: 409, body: { code: 'key_in_use' } };
    const answers = Promise.all([
      post('/workflows', BODY, 'k'),
      post('/workflows', { ...BODY, unique_key: 'k' }),
    ]);
    expect((await post('/workflows', BODY, 'l')).status).toBe(201);
    expect((await post('/workflows', { ...BODY, unique_key: 'l' })).status).toBe(201);
    expect(await answers).toMatchObject([inUse, inUse]);
    const waiting = post('/workflows', BODY, 'k');
    await twin.query('rollback');
    expect((await waiting).status).toBe(201);
  } finally {
    twin.release();
  }
});

async function idOf({ ask }: TestApi, key: string): Promise<string> {
  const { body } = await ask('POST', '/workflows', BODY, { 'idempotency-key': key });
  return Object(body).id;
}

test('what an api that was killed had begun is made once by another one', async () => {
  const doomed = await startApi(db.url);
  const keys = Array.from({ length: 60 }, (_, n) => `k${n}`);
  const first = keys.map((key) => idOf(doomed, key).catch(() => null));
  await Promise.any(first);
  doomed.signal('SIGKILL');
  const answered = await Promise.all(first);
  await doomed.ended;
  const ids = await Promise.all(keys.map((key) => idOf(api, key)));
  expect(new Set(ids).size).toBe(60);
  expect(await count('wfg_jobs')).toBe(60);
  expect(answered.filter((id, n) => id !== null && id !== ids[n])).toEqual([]);
});

test('what is refused uses up no key', async () => {
  expect((await post('/api/workflows/w/run', {}, 'k')).status).toBe(404);
  await api.ask('PUT', '/api/workflows/w', JOBS);
  expect((await post('/api/workflows/w/run', {}, 'k')).status).toBe(202);
});

test('a key is of one route and what its path names', async () => {
  for (const id of ['v', 'w']) await api.ask('PUT', `/api/workflows/${id}`, JOBS);
  const started = await Promise.all(['v', 'w'].map((id) => post(`/api/workflows/${id}/run`, {}, 'k')));
  expect(new Set(started.map(({ body }) => Object(body).run_id)).size).toBe(2);
  expect((await post('/workflows', BODY, 'k')).status).toBe(201);
});

test('a run is started once, also when it has ended since', async () => {
  await api.ask('PUT', '/api/workflows/w', JOBS);
  const first = await post('/api/workflows/w/run', { env: { A: '1', B: '2' } }, 'k');
  expect(first.status).toBe(202);
  await db.pool.query(`update wfg_runs set state = 'completed', finished_at = now(), open_jobs = 0`);
  const again = await post('/api/workflows/w/run', { env: { B: '2', A: '1' } }, 'k');
  expect(again).toMatchObject({ status: 202, body: first.body });
  expect((await post('/api/workflows/w/run', { env: {} }, 'k')).status).toBe(422);
  expect((await post('/api/workflows/w/run', {}, 'l')).body).not.toEqual(first.body);
});

test('workflows and inline runs are stored once, whatever the order of their jobs', async () => {
  const { a, b } = JOBS.jobs;
  const turned = { jobs: { b, a }, name: 'w' };
  for (const path of ['/api/workflows', '/api/runs']) {
    const first = await post(path, JOBS, 'k');
    expect(await post(path, turned, 'k')).toMatchObject({ status: 201, body: first.body });
    expect((await post(path, { ...JOBS, name: 'x' }, 'k')).status).toBe(422);
  }
  expect([await count('wfg_workflows'), await count('wfg_runs')]).toEqual([1, 1]);
});

test('a sample is stored once; one that was removed is not made again', async () => {
  expect((await post('/api/workflows/sample', undefined, 'k')).status).toBe(201);
  await api.ask('PUT', '/api/workflows/ci-1', JOBS);
  expect(await post('/api/workflows/sample', undefined, 'k')).toMatchObject({
    status: 201,
    body: { name: 'w' },
  });
  await api.ask('DELETE', '/api/workflows/ci-1');
  expect((await post('/api/workflows/sample', undefined, 'k')).status).toBe(404);
});

const CLAIM = { worker_id: 'w', labels: [] };

test('a claim gives the same job while its lease lives, and none afterwards', async () => {
  await submit(db.pool, { a: { env: { A: '1' } }, b: {} });
  const first = await post('/api/jobs/claim', CLAIM, 'k');
  const again = await post('/api/jobs/claim', CLAIM, 'k');
  expect(again).toEqual({ ...first, headers: again.headers });
  expect((await post('/api/jobs/claim', { ...CLAIM, labels: ['x'] }, 'k')).status).toBe(422);
  expect((await db.pool.query('select labels from wfg_workers')).rows).toEqual([{ labels: [] }]);
  const { lease_id } = Object(first.body).lease;
  expect((await post(`/api/jobs/${lease_id}/complete`, {})).status).toBe(200);
  expect(await post('/api/jobs/claim', CLAIM, 'k')).toMatchObject({ status: 200, body: null });
  expect(await post('/api/jobs/claim', { ...CLAIM, wait_secs: 0 }, 'k')).toMatchObject({
    status: 200,
    body: null,
  });
  const next = await post('/api/jobs/claim', CLAIM, 'l');
  expect(next.body).toMatchObject({ job: { job_id: 'b' } });
  await moveClock(db.pool, '31 seconds');
  expect((await post('/api/jobs/claim', CLAIM, 'l')).body).toBe(null);
});

test('that there was no job is not kept', async () => {
  expect((await post('/api/jobs/claim', CLAIM, 'k')).body).toBe(null);
  expect(await count('wfg_keys')).toBe(0);
  await submit(db.pool, { a: {} });
  expect((await post('/api/jobs/claim', CLAIM, 'k')).body).toMatchObject({ job: { job_id: 'a' } });
});

test('of many claims with one key at once all get the same job', async () => {
  await submit(db.pool, { a: {}, b: {} });
  const claims = Array.from({ length: 8 }, () => post('/api/jobs/claim', { ...CLAIM, wait_secs: 1 }, 'k'));
  const leases = (await Promise.all(claims)).map(({ body }) => Object(body).lease?.lease_id);
  expect(new Set(leases).size).toBe(1);
});

test('after 7 days a key is free, and removed', async () => {
  const first = await post('/workflows', BODY, 'k');
  await post('/workflows', { ...BODY, unique_key: 'u' });
  await moveClock(db.pool, '7 days 1 second');
  expect((await post('/workflows', BODY, 'k')).body).not.toMatchObject({ id: Object(first.body).id });
  expect(await pruneKeys(db.pool, 10)).toBe(1);
  expect(await count('wfg_keys')).toBe(2);
  await moveClock(db.pool, '15 days');
  await db.pool.query('delete from wfg_jobs');
  expect(await pruneKeys(db.pool, 10)).toBe(2);
  expect(await count('wfg_keys')).toBe(0);
});

const unique = (given: object = {}) => post('/workflows', { ...BODY, unique_key: 'u', ...given });

test('while an event with the unique key has not ended another is not stored', async () => {
  const first = await unique({ max_attempts: 1 });
  expect(first.status).toBe(201);
  const { id } = Object(first.body);
  expect(await unique({ payload: 'another' })).toMatchObject({ status: 200, body: first.body });
  expect((await unique({ workflow_type: 'another' })).status).toBe(201);
  expect((await unique({ unique_key: 'v' })).status).toBe(201);
  await finish(db.pool, await claimEvent(db.pool, TYPE), { outcome: 'failed', error: 'x' });
  expect(await unique()).toMatchObject({ status: 200, body: { id, status: 'dead_lettered' } });
  await post(`/workflows/${id}/requeue`, undefined);
  expect(await unique()).toMatchObject({ status: 200, body: { id, status: 'pending' } });
  await post(`/workflows/${id}/cancel`, undefined);
  const next = await unique();
  expect(next.status).toBe(201);
  expect(Object(next.body).id).not.toBe(id);
});

test('with unique_for_secs it is the time that counts', async () => {
  const first = await unique({ unique_for_secs: 60 });
  await finish(db.pool, await claimEvent(db.pool, TYPE));
  expect(await unique()).toMatchObject({
    status: 200,
    body: { id: Object(first.body).id, status: 'completed' },
  });
  await moveClock(db.pool, '61 seconds');
  expect((await unique({ unique_for_secs: 60 })).status).toBe(201);
  expect((await unique({ unique_key: undefined, unique_for_secs: 60 })).status).toBe(422);
  for (const key of ['', 'x'.repeat(256), 'a\u0000'])
    expect((await unique({ unique_key: key })).status).toBe(422);
});

test('of many with one unique key at once one is stored; its answer is kept by the Idempotency-Key', async () => {
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      post('/workflows', { ...BODY, unique_key: 'u' }, n % 2 ? `k${n}` : undefined),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(29);
  expect(await count('wfg_jobs')).toBe(1);
  const again = await post('/workflows', { ...BODY, unique_key: 'u' }, 'k1');
  expect(again.status).toBe(answers[1]?.status);
});

test('the typed client sends keys', async () => {
  const headers = { 'idempotency-key': 'typed' };
  const { id } = await api.wfg(createEvent, { headers, body: BODY });
  expect((await api.wfg(createEvent, { headers, body: BODY })).id).toBe(id);
  const workflow = await api.wfg(createWorkflow, { headers, body: JOBS });
  expect((await api.wfg(createWorkflow, { headers, body: JOBS })).id).toBe(workflow.id);
  await api.wfg(createSample, { headers });
  const run = await api.wfg(startRun, { params: { id: workflow.id }, headers });
  expect(await api.wfg(startRun, { params: { id: workflow.id }, headers })).toEqual(run);
  expect((await api.wfg(submitRun, { headers, body: JOBS })).run_id).toEqual(
    (await api.wfg(submitRun, { headers, body: JOBS })).run_id,
  );
  const claimed = await api.wfg(claimJob, { headers, body: CLAIM });
  expect(await api.wfg(claimJob, { headers, body: CLAIM })).toEqual(claimed);
});

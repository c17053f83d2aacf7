// FlowForge's routes: what they take, what they answer, in every status of an event.
import { Event } from '@wfg/shared/contract/event';
import { finishJobs } from '@wfg/shared/queries/finish';
import { registerWorker } from '@wfg/shared/queries/workers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { claimEvent, finish, moveClock, reportOf } from '../../support/engine.ts';
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
  await moveClock(db.pool, '0');
  await db.pool.query('truncate wfg_jobs, wfg_history, wfg_attempts, wfg_workers');
});

const TYPE = 'claim.submitted';

async function create(given: Record<string, unknown> = {}): Promise<Event> {
  const { status, body } = await api.ask('POST', '/workflows', { workflow_type: TYPE, ...given });
  expect(status).toBe(201);
  return Event.parse(body);
}

async function show(id: string): Promise<Event> {
  const { status, body } = await api.ask('GET', `/workflows/${id}`);
  expect(status).toBe(200);
  return Event.parse(body);
}

/** Has its next try fail; the clock moves on so that it is due. */
async function fail(clock: string, error: string): Promise<void> {
  await moveClock(db.pool, clock);
  await finish(db.pool, await claimEvent(db.pool, TYPE), { outcome: 'failed', error });
}

async function deadLetter(): Promise<string> {
  const { id } = await create({ max_attempts: 1 });
  await fail('0', 'schema mismatch');
  return id;
}

test('an event is stored with its defaults, and says so', async () => {
  const payload = { claim_id: 'CLM-1001', customer_id: 'CUS-204', amount: 2500 };
  const { status, headers, body } = await api.ask('POST', '/workflows', { workflow_type: TYPE, payload });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    workflow_type: TYPE,
    payload,
    status: 'pending',
    attempts: 0,
    max_attempts: 3,
    last_error: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updated_at: Object(body).created_at,
    started_at: null,
    completed_at: null,
    run_at: Object(body).created_at,
    waiting: { reason: 'no_worker', detail: `no live worker has a handler for ${TYPE}`, until: null, on: [] },
  });
  expect((await api.ask('GET', headers.get('location') ?? '')).body).toEqual(body);
  expect(await api.logged('Workflow created')).toMatchObject({
    level: 'info',
    workflow_id: Object(body).id,
    workflow_type: TYPE,
  });
});

test('all of an event can be given, and null is nothing given', async () => {
  const given = { max_attempts: 100, priority: -100, run_at: '2040-01-01T01:00:00+01:00' };
  const policy = { backoff: 'None', timeout_secs: 5, expires_in_secs: 60 };
  expect(await create({ ...given, ...policy })).toMatchObject({
    max_attempts: 100,
    run_at: '2040-01-01T00:00:00.000Z',
    waiting: { reason: 'delayed', until: '2040-01-01T00:00:00.000Z' },
  });
  const { rows } = await db.pool.query('select priority, backoff, timeout_secs, expires_secs from wfg_jobs');
  expect(rows).toEqual([{ priority: -100, backoff: 'None', timeout_secs: 5, expires_secs: 60 }]);
  const none = { max_attempts: null, run_at: null, priority: null, backoff: null, timeout_secs: null };
  expect(await create({ ...none, expires_in_secs: null })).toMatchObject({ max_attempts: 3 });
});

test.each([null, [], {}, 'text', 0, false, { deep: [{ a: null }] }])(
  'the payload %j comes back',
  async (payload) => {
    const { id } = await create({ payload });
    expect((await show(id)).payload).toEqual(payload);
  },
);

test('a payload that is not given is {}, and one keeps all its digits', async () => {
  expect(await create()).toMatchObject({ payload: {} });
  const text = `{"workflow_type":"${TYPE}","payload":{"n":12345678901234567890}}`;
  const headers = { 'content-type': 'application/json' };
  const { body } = await api.ask('POST', '/workflows', text, headers);
  const answer = await fetch(`${api.url}/workflows/${Object(body).id}`);
  expect(await answer.text()).toContain('"n":12345678901234567890');
});

test.each([
  [{}, 'workflow_type: must be text, like "user.created"'],
  [{ workflow_type: '' }, 'workflow_type: must be 1 to 255 characters, none of them a control character'],
  [{ workflow_type: 'a\nb' }, 'workflow_type: must be 1 to 255 characters'],
  [{ workflow_type: 'x'.repeat(256) }, 'workflow_type: must be 1 to 255 characters'],
  [{ workflow_type: TYPE, max_attempts: 0 }, 'max_attempts: must be a whole number from 1 to 100'],
  [{ workflow_type: TYPE, max_attempts: 101 }, 'max_attempts: must be a whole number from 1 to 100'],
  [{ workflow_type: TYPE, max_attempts: '3' }, 'max_attempts: must be a whole number from 1 to 100'],
  [{ workflow_type: TYPE, priority: 1.5 }, 'priority: must be a whole number from -100 to 100'],
  [{ workflow_type: TYPE, priority: 101 }, 'priority: must be a whole number from -100 to 100'],
  [{ workflow_type: TYPE, run_at: 'tomorrow' }, 'run_at: must be a time like 2026-07-01T12:00:00Z'],
  [{ workflow_type: TYPE, run_at: '9999-12-31T23:59:59-01:00' }, 'run_at: must be a time like'],
  [{ workflow_type: TYPE, expires_in_secs: 0 }, 'expires_in_secs: must be a whole number of seconds, from 1'],
  [{ workflow_type: TYPE, timeout_secs: -1 }, 'timeout_secs: must be a whole number of seconds, from 1'],
  [{ workflow_type: TYPE, backoff: 'Fixed' }, 'backoff: must be "None", { Fixed: { delay_secs: N } }'],
  [{ workflow_type: TYPE, unique: 'k' }, 'unknown key "unique"'],
  [{ workflow_type: TYPE, paylaod: {} }, 'unknown key "paylaod"'],
])('the body %j is refused: %s', async (body, message) => {
  const answer = await api.ask('POST', '/workflows', body);
  expect(answer).toMatchObject({
    status: 422,
    body: { code: 'invalid_body', detail: expect.stringContaining(message) },
  });
});

test('an event is followed from its first failure to its end', async () => {
  const { id } = await create();
  const job = await claimEvent(db.pool, TYPE);
  expect(await show(id)).toMatchObject({
    status: 'processing',
    attempts: 1,
    started_at: job.started_at.toISOString(),
    waiting: null,
  });
  await finish(db.pool, job, { outcome: 'failed', error: '503' });
  const failed = await show(id);
  expect(failed).toMatchObject({ status: 'failed', attempts: 1, last_error: '503', completed_at: null });
  expect(failed.waiting).toMatchObject({ reason: 'delayed', until: failed.run_at });
  await moveClock(db.pool, '2 s');
  await finish(db.pool, await claimEvent(db.pool, TYPE));
  const done = await show(id);
  expect(done).toMatchObject({ status: 'completed', attempts: 2, last_error: '503', waiting: null });
  expect(done.completed_at).toBe(done.updated_at);
  const { status, body } = await api.ask('GET', `/workflows/${id}/status`);
  const { workflow_type: _t, payload: _p, run_at: _r, waiting: _w, ...progress } = done;
  expect({ status, body }).toEqual({ status: 200, body: progress });
  expect(await api.ask('GET', `/workflows/${id}/attempts`)).toMatchObject({
    status: 200,
    body: [
      { attempt: 0, try: 1, worker_id: 'w1', outcome: 'failed', error: '503' },
      { attempt: 1, try: 2, worker_id: 'w1', outcome: 'completed', error: null },
    ],
  });
});

test('an event that nobody has begun has no attempts', async () => {
  const { id } = await create();
  expect(await api.ask('GET', `/workflows/${id}/attempts`)).toMatchObject({ status: 200, body: [] });
});

test('an event whose tries are spent is a dead letter; requeued it is pending and has all its tries', async () => {
  const id = await deadLetter();
  expect(await show(id)).toMatchObject({
    status: 'dead_lettered',
    attempts: 1,
    last_error: 'schema mismatch',
    completed_at: null,
    waiting: null,
  });
  const requeued = await api.ask('POST', `/workflows/${id}/requeue`);
  expect(requeued).toMatchObject({
    status: 200,
    body: { id, status: 'pending', attempts: 0, last_error: 'schema mismatch' },
  });
  await finish(db.pool, await claimEvent(db.pool, TYPE));
  expect(await show(id)).toMatchObject({ status: 'completed', attempts: 1, last_error: 'schema mismatch' });
  const { body } = await api.ask('GET', `/workflows/${id}/attempts`);
  expect(body).toMatchObject([
    { attempt: 0, try: 1, outcome: 'failed', error: 'schema mismatch' },
    { attempt: 1, try: 1, outcome: 'completed' },
  ]);
});

test('of many requeues at once one is answered 200', async () => {
  const id = await deadLetter();
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => api.ask('POST', `/workflows/${id}/requeue`)),
  );
  const conflicts = answers.filter(({ status }) => status === 409);
  expect(conflicts).toHaveLength(5);
  expect(answers).toContainEqual(expect.objectContaining({ status: 200 }));
});

test('only a dead letter is requeued, and the refusal says what to do', async () => {
  const { id } = await create();
  const again = 'only a dead letter is requeued, and the event is';
  const refused = async (detail: string) =>
    expect(await api.ask('POST', `/workflows/${id}/requeue`)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: `${again} ${detail}` },
    });
  await refused('pending: it is not over, so it needs no requeue: look again later');
  const job = await claimEvent(db.pool, TYPE);
  await refused('processing: it is not over, so it needs no requeue: look again later');
  await finish(db.pool, job);
  await refused('completed: it has ended, so post it anew to run it again');
});

test('an event that waits is cancelled at once, and a repeated cancel is no error', async () => {
  const { id } = await create();
  for (let n = 0; n < 2; n++) {
    expect(await api.ask('POST', `/workflows/${id}/cancel`)).toMatchObject({ status: 202, body: '' });
    expect(await show(id)).toMatchObject({ status: 'cancelled', completed_at: null, waiting: null });
  }
});

test('an event that runs is asked to stop, and is cancelled when it has', async () => {
  const { id } = await create();
  const job = await claimEvent(db.pool, TYPE);
  for (let n = 0; n < 2; n++) {
    expect((await api.ask('POST', `/workflows/${id}/cancel`)).status).toBe(202);
    expect(await show(id)).toMatchObject({ status: 'processing' });
  }
  expect(await finishJobs(db.pool, [reportOf(job)])).toMatchObject([{ state: 'cancelled' }]);
  expect(await show(id)).toMatchObject({ status: 'cancelled', attempts: 1 });
  expect((await api.ask('POST', `/workflows/${id}/cancel`)).status).toBe(202);
});

test('an event that has ended otherwise cannot be cancelled', async () => {
  const dead = await deadLetter();
  const { id } = await create();
  await finish(db.pool, await claimEvent(db.pool, TYPE));
  for (const [one, status] of [
    [dead, 'dead_lettered'],
    [id, 'completed'],
  ]) {
    expect(await api.ask('POST', `/workflows/${one}/cancel`)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: `the event has ended already: it is ${status}` },
    });
  }
});

test('what waits for a worker says so until one has its handler', async () => {
  const { id } = await create();
  const card = {
    instance: crypto.randomUUID(),
    concurrency: 1,
    version: '1',
    host: 'h',
    labels: [':command'],
    problem: null,
    modules: [],
    handler_concurrency: 3,
  };
  await registerWorker(db.pool, { ...card, worker_id: 'w1' });
  expect(await show(id)).toMatchObject({ waiting: { reason: 'no_worker' } });
  await db.pool.query(`update wfg_workers set modules = $1`, [
    JSON.stringify([[':event user.created'], [`:event ${TYPE}`]]),
  ]);
  expect(await show(id)).toMatchObject({ waiting: null });
  await db.pool.query('update wfg_workers set draining = true');
  expect(await show(id)).toMatchObject({ waiting: { reason: 'no_worker' } });
  await db.pool.query('update wfg_workers set draining = false');
  expect(await show(id)).toMatchObject({ waiting: null });
  await moveClock(db.pool, '31 s');
  expect(await show(id)).toMatchObject({ waiting: { reason: 'no_worker' } });
});

// Schedules over HTTP: what can be made, what is refused, and how one is paused, started by hand and read.
import { createSchedule, getSchedule, listSchedules, listTicks } from '@wfg/shared/contract/routes/schedules';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { setClock } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url);
  await api.ask('PUT', '/api/workflows/w', { name: 'w', jobs: { a: { run: 'true' } } });
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await db.pool.query('delete from wfg_schedules');
  await setClock(db.pool, '2027-05-01T12:00:30Z');
});

const hourly = { cron: '0 * * * *', workflow_id: 'w' };
const yaml = (text: string) =>
  api.ask('PUT', '/api/workflows/ci', `name: ci\n${text}\njobs: { a: { run: 'true' } }\n`, {
    'content-type': 'application/yaml',
  });
const items = async () => (await api.wfg(listSchedules)).items;
const storeCrons = (...crons: string[]) =>
  yaml(`on: { schedule: [${crons.map((cron) => `{ cron: '${cron}' }`).join(', ')}] }`);
/** Those of `ci`, in their order. */
const ofDefinition = async () =>
  (await items()).filter(({ source }) => source === 'workflow').toSorted((a, b) => a.id.localeCompare(b.id));

test('a schedule is made with its defaults, shown, replaced and removed', async () => {
  const made = await api.ask('POST', '/api/schedules', { id: 'hourly', ...hourly });
  expect(made).toMatchObject({
    status: 201,
    body: {
      id: 'hourly',
      ...hourly,
      timezone: 'UTC',
      catch_up: 'last',
      paused: false,
      source: 'api',
      env: {},
      workflow_type: null,
      payload: null,
      next_at: '2027-05-01T13:00:00.000Z',
      last_tick_at: null,
      error: null,
    },
  });
  expect(made.headers.get('location')).toBe('/api/schedules/hourly');
  expect(await api.wfg(getSchedule, { params: { id: 'hourly' } })).toEqual(made.body);
  expect(await api.ask('POST', '/api/schedules', { id: 'hourly', ...hourly })).toMatchObject({ status: 409 });
  const event = { cron: '@daily', timezone: 'Asia/Tokyo', catch_up: 'all', workflow_type: 't', payload: [1] };
  expect(await api.ask('PUT', '/api/schedules/hourly', event)).toMatchObject({
    status: 200,
    body: {
      ...event,
      workflow_id: null,
      env: null,
      max_attempts: 3,
      priority: 0,
      next_at: '2027-05-01T15:00:00.000Z',
    },
  });
  expect(await api.ask('PUT', '/api/schedules/other', hourly)).toMatchObject({ status: 201 });
  expect(await api.ask('DELETE', '/api/schedules/hourly')).toMatchObject({ status: 204 });
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/run'],
    ['GET', '/next'],
    ['GET', '/ticks'],
  ] as const) {
    expect(await api.ask(method, `/api/schedules/hourly${path}`)).toMatchObject({
      status: 404,
      body: { detail: 'there is no schedule hourly' },
    });
  }
});

test.each([
  [{ cron: '0 * * * *' }, 'workflow_id', 'say what to start'],
  [{ ...hourly, workflow_type: 't' }, 'workflow_type', 'cannot stand beside workflow_id'],
  [{ cron: '@daily', workflow_type: 't', env: {} }, 'env', 'cannot stand beside workflow_type'],
  [{ ...hourly, payload: {} }, 'payload', 'cannot stand beside workflow_id'],
  [{ ...hourly, workflow_id: 'none' }, 'workflow_id', 'there is no workflow none'],
  [{ ...hourly, cron: '0 0 30 2 *' }, 'cron', 'it never comes'],
  [{ ...hourly, cron: '* * * *' }, 'cron', 'it needs five fields'],
  [{ ...hourly, timezone: 'Mars' }, 'timezone', 'there is no time zone "Mars"'],
  [{ ...hourly, catch_up: 'none' }, 'catch_up', 'must be skip, last or all'],
  [{ ...hourly, paused: true }, 'paused', 'unknown key'],
])('%j is refused', async (body, path, message) => {
  expect(await api.ask('POST', '/api/schedules', body)).toMatchObject({
    status: 422,
    body: { code: 'invalid_body', errors: [{ path, message: expect.stringContaining(message) }] },
  });
  expect(await items()).toEqual([]);
});

test('while it is paused there is no next tick, and it goes on from now', async () => {
  await api.wfg(createSchedule, { body: { id: 's', ...hourly } });
  const ask = (verb: string) => api.ask('POST', `/api/schedules/s/${verb}`);
  expect(await ask('pause')).toMatchObject({ status: 200, body: { paused: true, next_at: null } });
  expect(await ask('pause')).toMatchObject({ status: 200, body: { paused: true } });
  await setClock(db.pool, '2027-05-03T09:30:00Z');
  // Replacing it is no way to let it go on.
  expect(await api.ask('PUT', '/api/schedules/s', { ...hourly, cron: '15 * * * *' })).toMatchObject({
    body: { paused: true, next_at: null },
  });
  expect(await ask('resume')).toMatchObject({
    status: 200,
    body: { paused: false, next_at: '2027-05-03T10:15:00.000Z' },
  });
  expect(await ask('resume')).toMatchObject({ body: { next_at: '2027-05-03T10:15:00.000Z' } });
  expect((await api.wfg(listTicks, { params: { id: 's' } })).items).toEqual([]);
});

test('what is due stays due when it is replaced by what ticks as before', async () => {
  await api.wfg(createSchedule, { body: { id: 's', ...hourly } });
  await setClock(db.pool, '2027-05-01T14:30:00Z');
  expect(await api.ask('PUT', '/api/schedules/s', { ...hourly, catch_up: 'all' })).toMatchObject({
    body: { catch_up: 'all', next_at: '2027-05-01T13:00:00.000Z' },
  });
});

test('what a fault has ended ticks again once it is put, but for what is paused', async () => {
  const schedule = `on: { schedule: [{ cron: '@daily' }, { cron: '@hourly' }] }`;
  await api.wfg(createSchedule, { body: { id: 's', ...hourly } });
  await yaml(schedule);
  await api.ask('POST', '/api/schedules/ci:2/pause');
  await db.pool.query(`update wfg_schedules set next_at = null`);
  expect(await api.ask('PUT', '/api/schedules/s', hourly)).toMatchObject({
    status: 200,
    body: { next_at: '2027-05-01T13:00:00.000Z' },
  });
  await yaml(schedule);
  expect(await ofDefinition()).toMatchObject([
    { next_at: '2027-05-02T00:00:00.000Z' },
    { paused: true, next_at: null },
  ]);
});

test('started by hand it ticks as before', async () => {
  await api.wfg(createSchedule, { body: { id: 's', ...hourly } });
  const started = await api.ask('POST', '/api/schedules/s/run');
  expect(started.status).toBe(202);
  const { run_id } = Object(started.body);
  expect(await api.ask('GET', `/api/runs/${run_id}`)).toMatchObject({ body: { workflow_id: 'w' } });
  expect((await api.ask('POST', '/api/schedules/s/run')).body).not.toEqual({ run_id });
  expect(await api.wfg(getSchedule, { params: { id: 's' } })).toMatchObject({
    next_at: '2027-05-01T13:00:00.000Z',
    last_tick_at: null,
  });
  await api.wfg(createSchedule, { body: { id: 'e', cron: '@daily', workflow_type: 't', payload: { a: 1 } } });
  const event = Object((await api.ask('POST', '/api/schedules/e/run')).body).run_id;
  expect(await api.ask('GET', `/workflows/${event}`)).toMatchObject({ body: { payload: { a: 1 } } });
  await api.ask('PUT', '/api/workflows/gone', { name: 'g', jobs: { a: { run: 'true' } } });
  await api.wfg(createSchedule, { body: { id: 'g', cron: '@daily', workflow_id: 'gone' } });
  await api.ask('DELETE', '/api/workflows/gone');
  expect(await api.ask('POST', '/api/schedules/g/run')).toMatchObject({
    status: 409,
    body: { detail: 'there is no workflow gone: store it, or remove the schedule' },
  });
});

test('a schedule, and a start by hand, is made once for one key', async () => {
  const key = { 'idempotency-key': 'k' };
  const first = await api.ask('POST', '/api/schedules', hourly, key);
  expect(await api.ask('POST', '/api/schedules', hourly, key)).toMatchObject({
    status: 201,
    body: first.body,
  });
  expect(await items()).toHaveLength(1);
  const run = `/api/schedules/${Object(first.body).id}/run`;
  const started = await api.ask('POST', run, undefined, key);
  expect(await api.ask('POST', run, undefined, key)).toMatchObject({ status: 202, body: started.body });
});

test('the next ticks are told, in the time zone of the schedule', async () => {
  const cron = { cron: '30 2 * * *', timezone: 'Europe/Berlin', workflow_id: 'w' };
  await api.wfg(createSchedule, { body: { id: 's', ...cron } });
  expect((await api.ask('GET', '/api/schedules/s/next?count=2')).body).toEqual([
    '2027-05-02T00:30:00.000Z',
    '2027-05-03T00:30:00.000Z',
  ]);
  expect(Object((await api.ask('GET', '/api/schedules/s/next')).body)).toHaveLength(5);
});

test('lists are newest first, and pages lead on', async () => {
  for (const id of ['a', 'b', 'c']) await api.wfg(createSchedule, { body: { id, ...hourly } });
  const first = await api.wfg(listSchedules, { query: { limit: 2 } });
  expect(first.items.map(({ id }) => id)).toEqual(['c', 'b']);
  const rest = await api.wfg(listSchedules, { query: { limit: 2, cursor: first.next ?? '' } });
  expect({ ids: rest.items.map(({ id }) => id), next: rest.next }).toEqual({ ids: ['a'], next: null });
  const big = { cron: '@daily', workflow_type: 't', payload: 'x'.repeat(1_000_000) };
  for (const id of ['d', 'e', 'f', 'g', 'h', 'i']) await api.wfg(createSchedule, { body: { id, ...big } });
  const short = await api.wfg(listSchedules);
  expect(short.items.map(({ id }) => id)).toEqual(['i', 'h', 'g', 'f', 'e']);
  const others = await api.wfg(listSchedules, { query: { cursor: short.next ?? '' } });
  expect(others.items.map(({ id }) => id)).toEqual(['d', 'c', 'b', 'a']);
  await db.pool.query(
    `insert into wfg_ticks (schedule_id, tick_at, outcome)
     select 'a', '2027-04-01T00:00Z'::timestamptz + make_interval(hours => n), 'missed' from generate_series(0, 2) n`,
  );
  const ticks = await api.wfg(listTicks, { params: { id: 'a' }, query: { limit: 2 } });
  expect(ticks.items.map(({ tick_at }) => tick_at)).toEqual([
    '2027-04-01T02:00:00.000Z',
    '2027-04-01T01:00:00.000Z',
  ]);
  const older = await api.wfg(listTicks, {
    params: { id: 'a' },
    query: { limit: 2, cursor: ticks.next ?? '' },
  });
  expect({ ...older, items: older.items.length }).toEqual({ next: null, items: 1 });
});

test('a definition has the schedules that it asks for, and keeps its hands off the others', async () => {
  await api.wfg(createSchedule, { body: { id: 'ci', ...hourly } });
  await yaml(
    `on: { push: {}, schedule: [{ cron: '@daily' }, { cron: '0 9 * * 1', timezone: Asia/Tokyo, catch_up: all }] }`,
  );
  expect(await ofDefinition()).toMatchObject([
    { id: 'ci:1', cron: '@daily', timezone: 'UTC', catch_up: 'last', workflow_id: 'ci' },
    { id: 'ci:2', cron: '0 9 * * 1', timezone: 'Asia/Tokyo', catch_up: 'all' },
  ]);
  await api.ask('POST', '/api/schedules/ci:1/pause');
  await setClock(db.pool, '2027-05-10T00:00:30Z');
  await yaml(`on: { schedule: [{ cron: '@daily' }] }`);
  expect(await items()).toMatchObject([{ id: 'ci:1', paused: true, next_at: null }, { id: 'ci' }]);
  expect(await api.wfg(getSchedule, { params: { id: 'ci:1' } })).toMatchObject({ id: 'ci:1' });
  for (const method of ['PUT', 'DELETE']) {
    expect(await api.ask(method, '/api/schedules/ci:1', method === 'PUT' ? hourly : undefined)).toMatchObject(
      {
        status: 409,
        body: { detail: expect.stringContaining('the definition of workflow ci') },
      },
    );
  }
  await api.ask('DELETE', '/api/workflows/ci');
  expect((await items()).map(({ id }) => id)).toEqual(['ci']);
});

test('a schedule of a definition stays paused, or due, wherever it stands in it', async () => {
  await storeCrons('0 2 * * *', '0 5 * * *');
  await api.ask('POST', '/api/schedules/ci:1/pause');
  await setClock(db.pool, '2027-05-02T06:00:30Z');
  const due = '2027-05-02T05:00:00.000Z';
  await storeCrons('*/5 * * * *', '0 2 * * *', '0 5 * * *');
  expect(await ofDefinition()).toMatchObject([
    { cron: '*/5 * * * *', paused: false, next_at: '2027-05-02T06:05:00.000Z' },
    { cron: '0 2 * * *', paused: true, next_at: null },
    { cron: '0 5 * * *', paused: false, next_at: due },
  ]);
  await storeCrons('0 5 * * *', '0 3 * * *');
  expect(await ofDefinition()).toMatchObject([
    { cron: '0 5 * * *', paused: false, next_at: due },
    // It is the one that was paused, changed.
    { cron: '0 3 * * *', paused: true, next_at: null },
  ]);
});

test('a definition whose schedule is none is refused with its place, and changes nothing', async () => {
  await yaml(`on: { schedule: [{ cron: '@daily' }] }`);
  const refused = await yaml(`on:\n  schedule:\n    - cron: '@daily'\n    - cron: '0 0 31 4 *'`);
  expect(refused).toMatchObject({
    status: 422,
    body: {
      code: 'invalid_workflow',
      errors: [
        {
          path: 'on.schedule.1.cron',
          message: 'line 5, column 13: "0 0 31 4 *" is no schedule: it never comes',
        },
      ],
    },
  });
  expect(await yaml(`on: { schedule: [{ cron: 5 }] }`)).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'on.schedule.0.cron' }] },
  });
  expect(await yaml(`on: { schedule: { cron: '@daily' } }`)).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'on.schedule', message: expect.stringContaining('must be a list') }] },
  });
  expect((await items()).map(({ id }) => id)).toEqual(['ci:1']);
});

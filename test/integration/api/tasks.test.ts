// POST /api/tasks, and how deep JSON may be nested there as elsewhere.
import { isTooDeep } from '@wfg/shared/contract/json';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
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

const STEP = { Greeter: { SayHello: { name: 'World' } } };

const start = () => api.ask('POST', '/api/tasks', { step: STEP }, { 'idempotency-key': 'k' });

test('repeated with its key, a task is shown, and one that is past retention is not found', async () => {
  const first = await start();
  expect(first).toMatchObject({ status: 201, body: { workflow_type: 'Greeter', status: 'pending' } });
  expect(await start()).toMatchObject({ status: 201, body: first.body });
  await db.pool.query('delete from wfg_jobs');
  expect(await start()).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('what PostgreSQL cannot read again is made visible', async () => {
  const step = { Greeter: { SayHello: { name: 'a\0b\ud800' } } };
  const { body } = await api.ask('POST', '/api/tasks', { step });
  const { rows } = await db.pool.query('select step from pg_task where id = $1', [Object(body).run_id]);
  expect(rows).toEqual([{ step: '{"Greeter":{"SayHello":{"name":"a\u2400b\ufffd"}}}' }]);
});

const lists = (count: number, inside = '') => '['.repeat(count) + inside + ']'.repeat(count);

test.for([
  ['/workflows', '{"workflow_type":"t","payload":', '}', 1],
  ['/api/tasks', '{"step":{"T":{"S":', '}}}', 3],
  ['/api/schedules', '{"cron":"@daily","workflow_type":"t","payload":', '}', 1],
] as const)('%s takes 1000 levels and no more', async ([path, before, after, levels]) => {
  const post = (payload: string) =>
    api.ask('POST', path, before + payload + after, { 'content-type': 'application/json' });
  const refused = {
    status: 422,
    body: { code: 'invalid_body', detail: expect.stringContaining('1000 levels') },
  };
  expect(await post(lists(1001 - levels))).toMatchObject(refused);
  expect(await post(lists(200_000))).toMatchObject(refused);
  expect(await post(lists(200_000, '12345678901234567890'))).toMatchObject(refused);
  expect(await post(`"\\"${'['.repeat(2000)}"`)).toMatchObject({ status: 201 });
  const { status } = await post(lists(1000 - levels));
  expect(status).toBe(201);
});

test.for([
  lists(999, '1'),
  lists(1000),
  lists(1001),
  `[${lists(1000, '1')}]`,
  `${'{"a":'.repeat(999)}1${'}'.repeat(999)}`,
  `[${'[[]],'.repeat(2000)}"${'['.repeat(2000)}\\"${'['.repeat(2000)}", {"a": 1}]`,
])('%#: SQL and programs agree how deep it is', async (text) => {
  const { rows } = await db.pool.query<{ deep: boolean }>('select wfg_is_too_deep($1) as deep', [text]);
  expect(isTooDeep(text)).toBe(rows[0]?.deep);
});

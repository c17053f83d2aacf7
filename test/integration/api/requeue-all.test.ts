// Requeue by filter: which dead letters are meant, once each, by whatever scheduler is there, and who asked for it.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { workOperations } from '../../../services/scheduler/src/work-operations.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { claim, finish, moveClock } from '../../support/engine.ts';
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
  await db.pool.query('truncate wfg_jobs, wfg_history, wfg_attempts, wfg_operations, wfg_audit');
});

/** Dead letters of these types, as many of each. */
async function die(types: Record<string, number>, error = 'no'): Promise<void> {
  await db.pool.query(
    `insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, payload, attempt,
       tries, max_attempts, worker_id, nonce, started_at, begun_at, finished_at, outcome, error)
     select wfg_uuid7(), 0, 'main', type, type, 'failed', 'event', array[':event ' || type], '{}', 0, 1, 1, 'w', 1,
       wfg_now(), wfg_now(), wfg_now(), 'failed', $2
     from json_each_text($1) as given (type, count), generate_series(1, count::int)`,
    [types, error],
  );
}

async function request(filter: object): Promise<string> {
  const { status, body } = await api.ask('POST', '/workflows/requeue', { filter });
  expect(status).toBe(202);
  return String(Object(body).operation_id);
}

async function work(): Promise<void> {
  const log = pino({ level: 'silent' });
  await using doorbell = createDoorbell(db.pool, log);
  await workOperations(db.pool, doorbell, log, new AbortController().signal);
}

const look = async (id: string) => (await api.ask('GET', `/api/operations/${id}`)).body;

async function pending(): Promise<Record<string, number>> {
  const { rows } = await db.pool.query<{ type: string; count: number }>(
    `select workflow_type as type, count(*)::int as count from wfg_jobs where state = 'pending' and tries = 0 group by 1`,
  );
  return Object.fromEntries(rows.map(({ type, count }) => [type, count]));
}

test('10,000 are requeued by two schedulers, each once, and it is known who asked', {
  timeout: 120_000,
}, async () => {
  await die({ mail: 10_000, other: 3 });
  const id = await request({ workflow_type: 'mail', status: 'dead_lettered' });
  expect(await look(id)).toMatchObject({ operation_id: id, total: 10_000, done: 0, finished_at: null });
  await Promise.all([work(), work()]);
  await work();
  expect(await look(id)).toMatchObject({ total: 10_000, done: 10_000, finished_at: expect.any(String) });
  expect(await pending()).toEqual({ mail: 10_000 });
  const { rows } = await db.pool.query(
    'select action, count(*)::int, count(distinct run_id)::int as runs, min(actor) as actor from wfg_audit where operation_id = $1 group by action order by action',
    [id],
  );
  expect(rows).toEqual([
    { action: 'requeue', count: 10_000, runs: 10_000, actor: 'operation' },
    { action: 'requeue all', count: 1, runs: 0, actor: 'no token, from 127.0.0.1' },
  ]);
  const { rows: kept } = await db.pool.query('select count(*)::int from wfg_attempts');
  expect(kept).toEqual([{ count: 10_000 }]);
});

test('the filter says which, and what fails again is not requeued again', async () => {
  await die({ a: 1 }, 'provider says 503');
  await die({ a: 1 }, 'schema mismatch');
  await moveClock(db.pool, '1 hour');
  await die({ a: 1 }, 'provider says 503');
  const before = new Date(Date.now() + 60_000).toISOString();
  const id = await request({ error_contains: 'says 503', before });
  await work();
  expect(await look(id)).toMatchObject({ total: 1, done: 1 });
  await moveClock(db.pool, '2 hours');
  const all = await request({});
  const [job] = await claim(db.pool, { labels: [':event a'] });
  if (job) await finish(db.pool, job, { outcome: 'failed', retryable: false, error: 'again' });
  await work();
  expect(await look(all)).toMatchObject({ total: 2, done: 2, finished_at: expect.any(String) });
  expect(await pending()).toEqual({ a: 2 });
});

test('what somebody holds is done later, and keeps nothing else waiting', async () => {
  await die({ a: 3 });
  const id = await request({});
  const holder = await db.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select from wfg_jobs order by run_id desc limit 1 for update');
    await work();
    expect(await look(id)).toMatchObject({ total: 3, done: 2, finished_at: null });
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  await work();
  expect(await look(id)).toMatchObject({ total: 3, done: 3, finished_at: expect.any(String) });
});

test.each([
  [{}, 'filter'],
  [{ filter: { status: 'failed' } }, 'only what is dead_lettered'],
  [{ filter: { befor: 'x' } }, 'befor'],
  [{ filter: { before: 'yesterday' } }, 'a time like'],
])('%j is refused', async (body, words) => {
  const answer = await api.ask('POST', '/workflows/requeue', body);
  expect(answer.status).toBe(422);
  expect(JSON.stringify(answer.body)).toContain(words);
});

test('an operation that there is not is unknown', async () => {
  expect(await api.ask('GET', '/api/operations/0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e70')).toMatchObject({
    status: 404,
  });
  expect(await api.ask('GET', '/api/operations/x')).toMatchObject({ status: 400 });
});

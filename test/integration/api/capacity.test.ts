// What a job says that is due while all places of the workers that could take it are taken.
import { getJob } from '@wfg/shared/contract/routes/jobs';
import { registerWorker } from '@wfg/shared/queries/workers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { claim, enqueue, finish, moveClock, submit } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { runWfg } from '../../support/wfg.ts';

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
  await db.pool.query('truncate wfg_jobs, wfg_runs, wfg_history, wfg_attempts, wfg_workers');
});

const MODULES = [[':event a', ':task t'], [':event b']];

async function register(worker_id: string, concurrency: number, modules = MODULES): Promise<void> {
  const card = { worker_id, concurrency, modules, version: '1', host: 'h', labels: ['gpu'] };
  await registerWorker(db.pool, {
    ...card,
    instance: crypto.randomUUID(),
    problem: null,
    handler_concurrency: 1,
  });
}

const take = (workerId: string, label: string) => claim(db.pool, { workerId, labels: [label], limit: 1 });

/** Of the first that is due of a run of commands. */
const ofCommand = async (run: string) => (await api.wfg(getJob, { params: { run, job: 'last' } })).waiting;

const ofEvent = async (id: string) => Object(await api.ask('GET', `/workflows/${id}`)).body.waiting;

const full = (words: string) => ({
  reason: 'capacity',
  detail: `${words} that could take it are busy`,
  until: null,
  on: [],
});

test('a command waits for a place for commands, as soon as all of them are taken and until one is free', async () => {
  await register('w1', 2);
  await register('w2', 1);
  const run = await submit(db.pool, { a: {}, b: {}, c: {}, last: { priority: -1 } });
  const [first] = await take('w1', 'gpu');
  await take('w1', 'gpu');
  expect(await ofCommand(run)).toBeNull();
  await take('w2', 'gpu');
  expect(await ofCommand(run)).toEqual(full('all 3 places of the 2 workers'));
  const shown = await runWfg(['show', run], { WFG_URL: api.url });
  expect(shown.stdout).toContain('all 3 places of the 2 workers that could take it are busy');
  if (first) await finish(db.pool, first);
  expect(await ofCommand(run)).toBeNull();
});

test('a worker that drains, is silent, or was started anew has none of the places that are counted', async () => {
  await register('w1', 1);
  await register('w2', 1);
  const run = await submit(db.pool, { a: {}, last: { priority: -1 } });
  await take('w1', 'gpu');
  expect(await ofCommand(run)).toBeNull();
  const alone = { ...full(''), detail: 'the one place of the worker that could take it is busy' };
  await db.pool.query(`update wfg_workers set draining = true where worker_id = 'w2'`);
  expect(await ofCommand(run)).toEqual(alone);
  await db.pool.query(`update wfg_workers set draining = false, last_heartbeat = wfg_now() - interval '31 s'
    where worker_id = 'w2'`);
  expect(await ofCommand(run)).toEqual(alone);
  // Its job will be taken back; this start of it runs nothing.
  await moveClock(db.pool, '1 s');
  await register('w1', 1);
  expect(await ofCommand(run)).toBeNull();
});

test('an event waits for a place of the module that handles it, whatever else is free', async () => {
  await register('w1', 5);
  for (const type of ['a', 'a', 'b']) await enqueue(db.pool, type);
  const [a, b] = [await enqueue(db.pool, 'a'), await enqueue(db.pool, 'b')];
  await take('w1', ':event a');
  expect(await ofEvent(a)).toMatchObject({
    reason: 'capacity',
    detail: 'the one place of the worker that could take it is busy',
  });
  expect(await ofEvent(b)).toBeNull();
  const listed = await api.ask('GET', '/workflows?status=pending&workflow_type=a');
  expect(listed.body).toMatchObject([
    { waiting: { reason: 'capacity' } },
    { waiting: { reason: 'capacity' } },
  ]);
});

test('a worker over HTTP has one place for whatever it takes', async () => {
  const body = { worker_id: 'f1', labels: ['gpu'], handlers: ['a'] };
  expect((await api.ask('POST', '/api/workers/register', body)).status).toBe(200);
  const id = await enqueue(db.pool, 'a');
  expect(await ofEvent(id)).toBeNull();
  await submit(db.pool, { a: {} });
  await take('f1', 'gpu');
  expect(await ofEvent(id)).toMatchObject({ reason: 'capacity' });
});

test('a worker of a version that did not tell its places may have one', async () => {
  await register('old', 1);
  await db.pool.query(`update wfg_workers set handler_concurrency = null, modules = '[]'`);
  const run = await submit(db.pool, { a: {}, last: { priority: -1 } });
  const id = await enqueue(db.pool, 'a');
  await take('old', 'gpu');
  expect(await ofCommand(run)).toBeNull();
  expect(await ofEvent(id)).toBeNull();
});

import { Worker } from '@wfg/shared/contract/worker';
import { registerWorker } from '@wfg/shared/queries/workers';
import { listWorkers } from '@wfg/shared/queries/worker-list';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { claim, finish, submit } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
});

afterAll(() => db[Symbol.asyncDispose]());

beforeEach(async () => {
  await db.pool.query('truncate wfg_workers, wfg_jobs, wfg_runs');
  const card = {
    instance: crypto.randomUUID(),
    problem: null,
    modules: [],
    handler_concurrency: 3,
    concurrency: 2,
    version: '1',
    host: 'h',
  };
  await registerWorker(db.pool, { ...card, worker_id: 'w1', labels: [':command', 'gpu'] });
});

test('a worker is busy with what it runs, then idle; what it offers by what it executes is not shown', async () => {
  const run = await submit(db.pool, { a: {} });
  const [job] = await claim(db.pool);
  const [busy] = await listWorkers(db.pool);
  expect(Worker.parse(busy)).toMatchObject({
    worker_id: 'w1',
    labels: ['gpu'],
    status: 'busy',
    current_job: 'a',
    jobs: [{ run_id: run, job_id: 'a', attempt: 0, since: job?.started_at.toISOString() }],
  });
  if (job) await finish(db.pool, job);
  expect(await listWorkers(db.pool)).toMatchObject([{ status: 'idle', current_job: null, jobs: [] }]);
});

test('a worker is offline when it has missed three beats, whatever it was doing', async () => {
  await db.pool.query(`update wfg_workers set draining = true, last_heartbeat = wfg_now() - interval '29 s'`);
  expect(await listWorkers(db.pool)).toMatchObject([{ status: 'draining' }]);
  await db.pool.query(`update wfg_workers set last_heartbeat = wfg_now() - interval '31 s'`);
  expect(await listWorkers(db.pool)).toMatchObject([{ status: 'offline' }]);
});

test('of very many the newest thousand are listed', async () => {
  await db.pool.query(`insert into wfg_workers (worker_id, concurrency, registered_at)
    select 'old-' || n, 1, wfg_now() - interval '1 h' from generate_series(1, 1000) n`);
  const workers = await listWorkers(db.pool);
  expect(workers).toHaveLength(1_000);
  expect(workers[0]?.worker_id).toBe('w1');
});

// Tasks of a worker that may not do more at once, that loses its connections, gets none, hears nothing, or is gone.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { startTask } from '@wfg/shared/sdk/sdk';
import { isDeaf } from '../../support/deaf.ts';
import { asAdmin } from '../../support/admin.ts';
import { moveClock, submit } from '../../support/engine.ts';
import { newTrail, type Trail } from '../../support/events.ts';
import { type Gate, newGate } from '../../support/gate.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import type { TestProcess } from '../../support/process.ts';
import { faults, greeter, sleeper } from '../../support/tasks.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, reasonsOf, ring, startHandlerWorker } from '../../support/worker.ts';

const TASKS = fileURLToPath(new URL('../../support/tasks.ts', import.meta.url));
const GREETING = `insert into pg_task (step) values ('{"Greeter":{"SayHello":{"name":"you"}}}')`;

let db: TestDatabase;
let gate: Gate;
let trail: Trail;

beforeEach(async () => {
  db = await testDatabase();
  gate = newGate();
  trail = newTrail();
});
afterEach(() => db[Symbol.asyncDispose]());

async function startTaskWorker(env: Record<string, string> = {}, url = db.url): Promise<TestProcess> {
  const worker = startHandlerWorker(url, env, [TASKS]);
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0, 30_000);
  return worker;
}

/** Starts one that runs until the gate is opened. */
const startWaiting = () =>
  startTask(db.pool, faults, { step: 'Wait', state: { trail: trail.path, gate: gate.path } });

const count = async (condition = 'true') =>
  (await db.pool.query<{ count: number }>(`select count(*) from pg_task where ${condition}`)).rows[0]?.count;

const allDone = () => waitFor('all to be done', async () => (await count()) === 0, 30_000);

/** What their last attempts came to, and why there were others. */
async function ends() {
  const { rows } =
    await db.pool.query(`select distinct state, tries, attempt, array(select a.error from wfg_attempts a where a.run_id = h.run_id) as earlier
     from wfg_history h`);
  return rows;
}

test('138: no more steps run at once than the worker may run', async () => {
  await using _ = await startTaskWorker({ HANDLER_CONCURRENCY: '3' });
  for (let n = 0; n < 5; n++) await startWaiting();
  await waitFor('three to begin', () => trail.lines().length === 3);
  await startWaiting();
  await ring(db.pool);
  // By the time that it has run this it has looked.
  const run = await submit(db.pool, { job: {} });
  await ring(db.pool);
  await jobWhen(db.pool, run, 'job', ({ state }) => state === 'completed');
  expect(trail.lines()).toHaveLength(3);
  expect(await count('is_running')).toBe(3);
  await gate.open();
  await allDone();
  expect(await ends()).toEqual([{ state: 'completed', tries: 1, attempt: 0, earlier: [] }]);
});

test('142: lost connections cost no task a try, and what was inserted meanwhile runs', {
  timeout: 60_000,
}, async () => {
  await using proxy = await TcpProxy.start(db.url);
  await using worker = await startTaskWorker({}, proxy.url);
  await startWaiting();
  await waitFor('it to begin', () => trail.lines().length === 1);
  await proxy.close();
  await gate.open();
  await db.pool.query(GREETING);
  await waitFor('it to say so', async () => (await reasonsOf(worker)).join().includes('failing'));
  await proxy.open();
  await allDone();
  expect(await ends()).toEqual([{ state: 'completed', tries: 1, attempt: 0, earlier: [] }]);
});

test('142, 143: backends that are terminated, and connections that are refused, are borne', {
  timeout: 60_000,
}, async () => {
  await using worker = await startTaskWorker();
  await startWaiting();
  await waitFor('it to begin', () => trail.lines().length === 1);
  const refuse = (isRefused: boolean) =>
    asAdmin(inject('databases').url, (admin) =>
      admin.query(`alter database "${new URL(db.url).pathname.slice(1)}" allow_connections ${!isRefused}`),
    );
  await refuse(true);
  await db.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like 'wfg-%' and pid <> pg_backend_pid()`,
  );
  await gate.open();
  await db.pool.query(GREETING);
  const accepted = 'not currently accepting connections';
  await waitFor('it to say so', async () => (await reasonsOf(worker)).join().includes(accepted), 20_000);
  await refuse(false);
  await allDone();
  expect(await ends()).toEqual([{ state: 'completed', tries: 1, attempt: 0, earlier: [] }]);
});

test.skipIf(isDeaf)('127: a worker that hears no bell finds what is inserted, each kind', async () => {
  await using worker = startHandlerWorker(
    db.url,
    { DATABASE_DIRECT_URL: 'postgres://nobody@127.0.0.1:1/none' },
    [TASKS],
  );
  await waitFor(
    'it to be deaf',
    async () => (await reasonsOf(worker)).every((one) => one.startsWith('listen')),
    30_000,
  );
  await db.pool.query(GREETING);
  await allDone();
  const run = await submit(db.pool, { job: {} });
  await jobWhen(db.pool, run, 'job', ({ state }) => state === 'completed');
  expect((await reasonsOf(worker)).join()).toContain('listen: deaf');
});

test('137: a delay outlasts the worker that began it', { timeout: 60_000 }, async () => {
  const file = trail.path;
  {
    await using _ = await startTaskWorker();
    await startTask(db.pool, sleeper, { step: 'Sleep', state: { secs: 3600, name: 'late', file } });
    await waitFor('its delay', async () => (await count(`step like '%Wakeup%'`)) === 1);
  }
  await using _ = await startTaskWorker();
  await startTask(db.pool, greeter, { step: 'SayHello', state: { name: 'you' } });
  await waitFor('another to be done', async () => (await count()) === 1);
  expect(existsSync(file)).toBe(false);
  await moveClock(db.pool, '3601 seconds');
  await ring(db.pool);
  await allDone();
  expect(readFileSync(file, 'utf8')).toBe('late\n');
});

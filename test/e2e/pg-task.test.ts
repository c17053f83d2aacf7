// pg_task's README from top to bottom: its SQL as it stands there, its Rust as our TypeScript; and what its users do by
// HTTP and on the command line instead.
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startTask } from '@wfg/shared/sdk/sdk';
import { readAttempts } from '@wfg/shared/queries/attempts';
import { isDeaf } from '../support/deaf.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { printed } from '../support/events.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import type { TestProcess } from '../support/process.ts';
import { examplesOf } from '../support/readme.ts';
import { faults, greeter, sleeper } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';
import { runWfg } from '../support/wfg.ts';
import { reasonsOf, startHandlerWorker } from '../support/worker.ts';

const TASKS = fileURLToPath(new URL('../support/tasks.ts', import.meta.url));

let db: TestDatabase;
let cluster: Cluster;
const workers: TestProcess[] = [];

async function startTasksWorker(id: string): Promise<TestProcess> {
  const worker = startHandlerWorker(db.url, { WORKER_ID: id, LEASE_TTL_SECS: '3' }, [TASKS]);
  workers.push(worker);
  await waitFor(`${id} to be ready`, async () => (await reasonsOf(worker)).length === 0, 30_000);
  return worker;
}

beforeAll(async () => {
  db = await testDatabase();
  cluster = await startCluster(db, { counts: { worker: 0 } });
  await startTasksWorker('w1');
});

afterAll(async () => {
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

interface Row {
  id: string;
  step: string;
  wakeup_at: Date;
  tried: number;
  is_running: boolean;
  error: string | null;
  created_at: Date;
  updated_at: Date;
}

const file = (name: string) => join(inject('runFolder'), `${randomUUID()}-${name}`);
const table = async () => (await db.pool.query<Row>('table pg_task')).rows;
const only = async () => {
  const [row] = await table();
  return row;
};
const wfg = (...args: string[]) => runWfg(args, { WFG_URL: cluster.url });
const isEmpty = async () => (await table()).length === 0;

test('131, 132, 133, 134: the tutorial: six tries, the error in the row, the world mended, the greeting', {
  timeout: 60_000,
}, async () => {
  const filename = file('name.txt');
  const step = JSON.stringify({ Greeter: { ReadName: { filename } } });
  const id = await startTask(db.pool, greeter, { step: 'ReadName', state: { filename } });

  const seen = new Set<string | null>();
  const row = await waitFor(
    'the sixth try',
    async () => {
      const now = await only();
      if (now && now.tried < 6) seen.add(now.error);
      return now?.error != null && now;
    },
    30_000,
  );
  // While it is tried again there is no error to see.
  expect([...seen]).toEqual([null]);
  expect(row).toEqual({
    id,
    step,
    wakeup_at: expect.any(Date),
    tried: 6,
    is_running: false,
    error: expect.stringContaining('no such file or directory'),
    created_at: expect.any(Date),
    updated_at: expect.any(Date),
  });
  const { error } = row;
  await writeFile(filename, 'Fixed World\n');
  await db.pool.query('update pg_task set error = null');
  await waitFor('the task to be done', isEmpty);

  const found = await readAttempts(db.pool, id, 'main');
  expect(found?.attempts.map((one) => [one.step, one.try, one.outcome])).toEqual([
    ...[1, 2, 3, 4, 5, 6].map((tried) => ['ReadName', tried, 'failed']),
    ['ReadName', 1, 'completed'],
    ['SayHello', 1, 'completed'],
  ]);
  expect(await printed(db.pool, id, 'stdout', 7)).toBe('Hello, Fixed World\n');
  expect(found?.attempts[5]?.error).toBe(error);
});

test('126, 127: scheduling is inserting a row, by hand or in a transaction', async () => {
  const filename = file('name.txt');
  await writeFile(filename, 'World');
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    await startTask(client, greeter, { step: 'ReadName', state: { filename } });
    await client.query('rollback');
  } finally {
    client.release();
  }
  expect(await isEmpty()).toBe(true);

  const step = `{"Greeter":{"ReadName":{"filename":${JSON.stringify(filename)}}}}`;
  const past = '2001-01-01T00:00:00Z';
  const { rows } = await db.pool.query<{ id: string }>(
    'insert into pg_task (step, wakeup_at) values ($1, $2), ($1, null) returning id',
    [step, past],
  );
  await waitFor('both to be done', isEmpty);
  for (const { id } of rows) expect(await printed(db.pool, id, 'stdout', 1)).toBe('Hello, World\n');
});

test('130, 137: sleepers of 3, 1 and 2 seconds wake in the order 1, 2, 3', async () => {
  const woken = file('woken');
  for (const secs of [3, 1, 2])
    await startTask(db.pool, sleeper, { step: 'Sleep', state: { secs, name: `${secs}`, file: woken } });
  await waitFor('all to be done', isEmpty);
  expect(await readFile(woken, 'utf8')).toBe('1\n2\n3\n');
});

test('140: a second worker that starts meanwhile disturbs nothing', async () => {
  const [trail, gate] = [file('trail'), file('gate')];
  const id = await startTask(db.pool, faults, { step: 'Wait', state: { trail, gate } });
  await waitFor('it to begin', () => readFile(trail, 'utf8'));
  await startTasksWorker('w2');
  expect(await only()).toMatchObject({ id, is_running: true, tried: 0 });
  await writeFile(gate, '');
  await waitFor('it to be done', isEmpty);
  expect(await readFile(trail, 'utf8')).toBe('begin 0\n');
});

test('128: killed with its worker, a task goes on at the step it was at', async () => {
  const [trail, gate] = [file('trail'), file('gate')];
  const id = await startTask(db.pool, faults, { step: 'Hop', state: { trail, gate } });
  await waitFor('its second step', () => readFile(trail, 'utf8'));
  const { rows } = await db.pool.query('select worker_id from wfg_jobs where run_id = $1', [id]);
  const index = rows[0].worker_id === 'w1' ? 0 : 1;
  const [victim] = workers.splice(index, 1);
  victim?.signal('SIGKILL');
  await waitFor('it to go on', async () => (await readFile(trail, 'utf8')) === 'begin 1\nbegin 2\n', 30_000);
  await writeFile(gate, '');
  await waitFor('it to be done', isEmpty);
  const found = await readAttempts(db.pool, id, 'main');
  expect(found?.attempts.map((one) => [one.step, one.try, one.outcome])).toEqual([
    ['Hop', 1, 'completed'],
    ['Wait', 1, 'lost'],
    ['Wait', 1, 'completed'],
  ]);
  await startTasksWorker('w3');
});

test('the same by HTTP and on the command line', async () => {
  const filename = file('name.txt');
  const started = await wfg('enqueue', '--task', 'Faults', '{"Throw":{}}');
  const id = started.stdout.trim();
  expect(started).toMatchObject({ code: 0, stderr: '' });
  await waitFor('it to stop', async () => (await only())?.error != null);
  const { stdout } = await wfg('dead');
  expect(stdout).toMatch(new RegExp(`Faults\\.Throw +${id} +2/2 .*it failed: why`));
  expect(await wfg('requeue', id)).toMatchObject({ code: 0, stdout: `requeued ${id}\n` });
  await waitFor(
    'it to stop again',
    async () => (await readAttempts(db.pool, id, 'main'))?.attempts.length === 4,
  );
  await waitFor('its error', async () => (await only())?.error != null);
  await db.pool.query('delete from pg_task');
  expect((await wfg('dead')).stderr).toBe('wfg: there are no dead letters\n');
  expect(await wfg('requeue', id)).toMatchObject({ code: 2 });

  await writeFile(filename, 'you');
  const key = randomUUID();
  const twice = ['enqueue', '--task', 'Greeter', JSON.stringify({ ReadName: { filename } }), '--key', key];
  const [first, second] = [await wfg(...twice), await wfg(...twice)];
  expect(second).toEqual(first);
  await waitFor('it to be done', isEmpty);
  expect(await wfg('enqueue', '--task', 'Greeter', '{"Shout":null}', '--priority', '1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('are for events'),
  });
  expect(await wfg('enqueue', '--task', 'Greeter', '{"Shout":null}')).toMatchObject({
    code: 2,
    stderr: 'wfg: task Greeter has no step Shout: it has ReadName, SayHello\n',
  });
});

test.skipIf(isDeaf)('139: stop_worker lets the steps end, and then the workers', async () => {
  const [trail, gate] = [file('trail'), file('gate')];
  await startTask(db.pool, faults, { step: 'Wait', state: { trail, gate } });
  await waitFor('it to begin', () => readFile(trail, 'utf8'));
  await db.pool.query(examplesOf('A task'));
  expect(await table()).toMatchObject([{ is_running: true }]);
  await db.pool.query("SELECT pg_notify('pg_task_changed', 'stop_worker')");
  await Promise.all(workers.map((worker) => worker.logged('stop_worker: finishing what runs')));
  const running = 'SELECT EXISTS(SELECT 1 FROM pg_task WHERE is_running = true)';
  expect((await db.pool.query(running)).rows).toEqual([{ exists: true }]);
  await writeFile(gate, '');
  await waitFor(
    'it to end',
    async () => !(await db.pool.query<{ exists: boolean }>(running)).rows[0]?.exists,
  );
  expect(await Promise.all(workers.map((worker) => worker.ended))).toEqual([
    { code: 0, signal: null },
    { code: 0, signal: null },
  ]);
});

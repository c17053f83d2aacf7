// What SQL rings, in the caller's transaction: for workers, and for who follows what was changed.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { cancelJob } from '@wfg/shared/queries/cancel';
import { claim, claimEvent, finish, submit } from '../../support/engine.ts';
import { type Ear, listener } from '../../support/ear.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { valueOf } from '../../support/sql.ts';
import { waitFor } from '../../support/wait-for.ts';

let db: TestDatabase;
let ear: Ear;

beforeAll(async () => {
  db = await testDatabase();
  ear = await listener(db.url);
});

afterAll(async () => {
  await ear[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await db.pool.query('delete from wfg_jobs; delete from wfg_workers');
  await db.pool.query(
    `insert into wfg_workers (worker_id, instance, concurrency, handlers, tasks)
     values ('w1', gen_random_uuid(), 1, '{a,b,c}', '{A}')`,
  );
});

/** What was rung until now, since it was asked last. */
async function heard() {
  await db.pool.query(`select pg_notify('wfg_events', '{"v":1,"beat":true}')`);
  await waitFor('all of it', () => ear.bells.at(-1)?.beat);
  return ear.bells.splice(0).slice(0, -1);
}

/** A bell for a lane; its nonce may be any. */
const laneBell = async (run: string, count: number, ...required: string[]) => {
  const lane = await laneOf(run);
  return { v: 1, lanes: { [lane]: count }, requires: { [lane]: required }, nonce: expect.any(Number) };
};

const laneOf = (run: string) => valueOf(db.pool, 'select lane::text from wfg_jobs where run_id = $1', run);

test('a transaction rings few times for many events, in all for about as many, and not for what is due later', async () => {
  await heard();
  await db.pool.query(`select wfg_enqueue('a') from generate_series(1, 1000)`);
  const last = await valueOf(db.pool, `wfg_enqueue('a', run_at => now() + interval '1 hour')`);
  const bells = await heard();
  const one = await laneBell(last, 1, ':event a');
  // The second says the same as the first, and so is not sent.
  const counts = [2, 4, 8, 16, 32, 64, 128, 256];
  const lane = await laneOf(last);
  expect(bells).toEqual([one, ...counts.map((count) => ({ ...one, lanes: { [lane]: count } }))]);
  expect(new Set(bells.map(({ nonce }) => nonce)).size).toBe(1);
});

test('144: a task that is inserted, or becomes due by an update, rings for workers; an update for who follows it', async () => {
  await heard();
  const insert = `insert into pg_task (step, wakeup_at) values ('{"A":{"B":null}}', $1) returning id`;
  const { rows } = await db.pool.query<{ id: string }>(insert, ['2099-01-01']);
  const id = rows[0]?.id ?? '';
  expect(await heard()).toEqual([]);
  await db.pool.query(`update pg_task set wakeup_at = '2098-01-01'`);
  expect(await heard()).toEqual([{ v: 1, runs: [id] }]);
  const [bell, told] = [await laneBell(id, 1, ':task A'), { v: 1, runs: [id] }];
  await db.pool.query('update pg_task set wakeup_at = now()');
  expect(await heard()).toEqual([bell, told]);
  await db.pool.query(`update pg_task set error = 'wait'`);
  expect(await heard()).toEqual([told]);
  await db.pool.query('update pg_task set error = null');
  expect(await heard()).toEqual([bell, told]);
  await db.pool.query('update pg_task set wakeup_at = wakeup_at');
  expect(await heard()).toEqual([]);
  await db.pool.query(insert, [null]);
  expect(await heard()).toEqual([bell]);
});

test('who follows a task hears that its row was deleted, and so does the worker that holds it', async () => {
  const insert = `insert into pg_task (step, error) values ('{"A":{"B":null}}', $1) returning id`;
  const add = async (error: string | null) =>
    (await db.pool.query<{ id: string }>(insert, [error])).rows[0]?.id ?? '';
  const remove = (id: string) => db.pool.query('delete from pg_task where id = $1', [id]);
  const running = await add(null);
  expect(await claim(db.pool, { labels: [':task A'] })).toMatchObject([{ run_id: running }]);
  const [waiting, stopped] = [await add(null), await add('x')];
  await heard();
  for (const id of [running, waiting, stopped]) await remove(id);
  expect(await heard()).toEqual([
    { v: 1, cancel: [running] },
    { v: 1, runs: [running] },
    { v: 1, runs: [waiting] },
    { v: 1, runs: [stopped] },
  ]);
});

test('of a job of a workflow that is cancelled schedulers hear, and of nothing that cannot be cancelled anyone', async () => {
  const run = await submit(db.pool, { a: {}, b: {} });
  await heard();
  for (let n = 0; n < 2; n++) await valueOf(db.pool, 'wfg_cancel($1, $2)::text', run, 'a');
  expect(await heard()).toEqual([{ v: 1, settle: true }]);
});

test('a cancel of the api rings nothing in its transaction', async () => {
  const waiting = await valueOf(db.pool, `wfg_enqueue('a')`);
  const run = await submit(db.pool, { a: {}, b: {} });
  await claim(db.pool, { limit: 1 });
  await heard();
  expect(await cancelJob(db.pool, waiting, 'main')).toBe('cancelled');
  expect(await cancelJob(db.pool, run, 'a')).toBe('active');
  expect(await cancelJob(db.pool, run, 'b')).toBe('cancelled');
  expect(await cancelJob(db.pool, run, 'c')).toBeNull();
  expect(await heard()).toEqual([]);
});

test('who follows an event hears that it was cancelled or requeued', async () => {
  const waiting = await valueOf(db.pool, `wfg_enqueue('a')`);
  await valueOf(db.pool, `wfg_enqueue('b')`);
  const { run_id: running } = await claimEvent(db.pool, 'b');
  const dead = await valueOf(db.pool, `wfg_enqueue('c', max_attempts => 1)`);
  await finish(db.pool, await claimEvent(db.pool, 'c'), { outcome: 'failed', error: 'x' });
  await heard();
  for (const run of [waiting, running]) await valueOf(db.pool, 'wfg_cancel($1)::text', run);
  expect(await heard()).toEqual([
    { v: 1, runs: [waiting] },
    { v: 1, cancel: [running] },
    { v: 1, runs: [running] },
  ]);
  await valueOf(db.pool, 'wfg_requeue($1)::text', dead);
  expect(await heard()).toEqual([await laneBell(dead, 1, ':event c'), { v: 1, runs: [dead] }]);
});

/** Whether an enqueue of this type is told in its transaction. */
async function rings(type: string): Promise<boolean> {
  await heard();
  await valueOf(db.pool, 'wfg_enqueue($1)', type);
  return (await heard()).length > 0;
}

const setWorker = (set: string) => db.pool.query(`update wfg_workers set ${set}`);

test('an enqueue rings only where a worker can take the job and does not look by itself', async () => {
  expect(await rings('a')).toBe(true);
  expect(await rings('nobody has it')).toBe(false);
  await setWorker(`hot = '{":event a"}', hot_until = now() + interval '1 minute'`);
  expect([await rings('a'), await rings('b')]).toEqual([false, true]);
  await setWorker(`hot_until = now() - interval '1 ms'`);
  expect(await rings('a')).toBe(true);
  await setWorker(`full_of = '{":event a"}'`);
  expect([await rings('a'), await rings('b')]).toEqual([false, true]);
  await db.pool.query(
    `insert into wfg_workers (worker_id, instance, concurrency, handlers) values ('w2', gen_random_uuid(), 1, '{a}')`,
  );
  expect(await rings('a')).toBe(true);
  await setWorker(`hot = '{":event a"}', hot_until = now() + interval '1 minute' where worker_id = 'w1'`);
  expect(await rings('a')).toBe(false);
  await setWorker(`hot = '{}', full_of = '{}', draining = true`);
  expect(await rings('a')).toBe(false);
  await setWorker(`draining = false, last_heartbeat = now() - interval '29 seconds'`);
  expect(await rings('a')).toBe(true);
  await setWorker(`last_heartbeat = now() - interval '31 seconds'`);
  expect(await rings('a')).toBe(false);
});

test('a worker over HTTP is told, and one whose version does not say what it is busy with', async () => {
  await db.pool.query(`delete from wfg_workers;
    insert into wfg_workers (worker_id, concurrency, labels, handlers) values ('f1', 1, '{gpu}', '{a}')`);
  expect(await rings('a')).toBe(true);
});

test('in a long transaction that a worker is hot holds by the time that has passed', async () => {
  await setWorker(`hot = '{":event a"}', hot_until = now() + interval '300 ms'`);
  await heard();
  const tx = await db.pool.connect();
  try {
    await tx.query('begin');
    await waitFor('it to be hot no more', async () => {
      const { rows } = await db.pool.query<{ over: boolean }>(
        'select hot_until < now() as over from wfg_workers',
      );
      return rows[0]?.over;
    });
    await tx.query(`select wfg_enqueue('a')`);
    await tx.query('commit');
  } finally {
    tx.release();
  }
  expect(await heard()).toHaveLength(1);
});

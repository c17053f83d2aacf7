// What SQL rings, in the caller's transaction: for workers, and for who follows what was changed.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { claimEvent, finish } from '../../support/engine.ts';
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
  await db.pool.query('delete from wfg_jobs');
});

/** What was rung until now, since it was asked last. */
async function heard() {
  await db.pool.query(`select pg_notify('wfg_events', '{"v":1,"beat":true}')`);
  await waitFor('all of it', () => ear.bells.at(-1)?.beat);
  return ear.bells.splice(0).slice(0, -1);
}

const laneOf = (run: string) => valueOf(db.pool, 'select lane::text from wfg_jobs where run_id = $1', run);

test('a transaction rings once for many events, and not for what is due later', async () => {
  await heard();
  await db.pool.query(`select wfg_enqueue('a') from generate_series(1, 1000)`);
  const last = await valueOf(db.pool, `wfg_enqueue('a', run_at => now() + interval '1 hour')`);
  expect(await heard()).toEqual([{ v: 1, lanes: { [await laneOf(last)]: 1 } }]);
});

test('144: a task that is inserted, or becomes due by an update, rings; one that waits on does not', async () => {
  await heard();
  const insert = `insert into pg_task (step, wakeup_at) values ('{"A":{"B":null}}', $1) returning id`;
  const { rows } = await db.pool.query<{ id: string }>(insert, ['2099-01-01']);
  const id = rows[0]?.id ?? '';
  await db.pool.query(`update pg_task set wakeup_at = '2098-01-01'`);
  expect(await heard()).toEqual([]);
  const bell = { v: 1, lanes: { [await laneOf(id)]: 1 } };
  await db.pool.query('update pg_task set wakeup_at = now()');
  expect(await heard()).toEqual([bell]);
  await db.pool.query(`update pg_task set error = 'wait'`);
  expect(await heard()).toEqual([]);
  await db.pool.query('update pg_task set error = null');
  expect(await heard()).toEqual([bell]);
  await db.pool.query(insert, [null]);
  expect(await heard()).toEqual([bell]);
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
  expect(await heard()).toEqual([
    { v: 1, lanes: { [await laneOf(dead)]: 1 } },
    { v: 1, runs: [dead] },
  ]);
});

// What one pass of the reaper does, and how little it asks of an idle database.
import { readEvent } from '@wfg/shared/queries/events';
import { createPool } from '@wfg/shared/db/pool';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type Counting, startCounting } from '../../services/reaper/src/counting.ts';
import { sweep } from '../../services/reaper/src/sweep.ts';
import {
  advance,
  claim,
  claimEvent,
  enqueue,
  finish,
  moveClock,
  runState,
  states,
  submit,
} from '../support/engine.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { reap } from '../support/reaper.ts';
import { waitFor } from '../support/wait-for.ts';

const log = pino({ level: 'silent' });

/** How many statements one pass takes. */
async function statementsOf(db: TestDatabase): Promise<number> {
  const pool = createPool({ url: db.url, name: 'reaper', log });
  let statements = 0;
  try {
    pool.on('acquire', () => statements++);
    await reap(pool);
  } finally {
    await pool.end();
  }
  return statements;
}

/** Looks, as for its counts alone. */
const look = (db: TestDatabase, counting: Counting) =>
  sweep({
    pool: db.pool,
    log,
    counting,
    intervalSecs: 5,
    begin: { leases() {}, jobs() {}, runs() {} },
  });

test('with nothing to do it asks once', async () => {
  await using db = await testDatabase();
  await submit(db.pool, { a: {} });
  await claim(db.pool);
  await enqueue(db.pool, 'a', { expires_in_secs: 60 });
  await finishOne(db, 'b');
  expect(await statementsOf(db)).toBe(1);
});

async function finishOne(db: TestDatabase, type: string): Promise<void> {
  await enqueue(db.pool, type);
  await finish(db.pool, await claimEvent(db.pool, type));
}

test('a job that nobody began in time is a dead letter, and can be requeued', async () => {
  await using db = await testDatabase();
  const late = await enqueue(db.pool, 'a', { expires_in_secs: 60 });
  const begun = await enqueue(db.pool, 'b', { expires_in_secs: 60 });
  await claimEvent(db.pool, 'b');
  const patient = await enqueue(db.pool, 'a');
  await moveClock(db.pool, '25 s');
  await reap(db.pool);
  expect(await readEvent(db.pool, late)).toMatchObject({ status: 'pending' });
  await moveClock(db.pool, '61 s');
  await reap(db.pool);
  expect(await readEvent(db.pool, late)).toMatchObject({
    status: 'dead_lettered',
    attempts: 0,
    last_error: 'expired: no worker began it within 60 s',
  });
  expect(await readEvent(db.pool, begun)).toMatchObject({ status: 'pending', attempts: 0 });
  expect(await readEvent(db.pool, patient)).toMatchObject({ status: 'pending' });
});

test('a run whose time is over ends failed', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {}, b: { needs: 'a' } });
  await db.pool.query(`update wfg_runs set deadline_at = wfg_now() + interval '20 s'`);
  const [a] = await claim(db.pool);
  await reap(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'active', b: 'blocked' });
  await moveClock(db.pool, '21 s');
  await reap(db.pool);
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'active', b: 'cancelled' });
  if (a) await finish(db.pool, a, { outcome: 'cancelled' });
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'failed', b: 'cancelled' });
  expect(await runState(db.pool, run)).toBe('failed');
});

test('tallies are summed up when they are many', async () => {
  await using db = await testDatabase();
  await db.pool.query(
    `insert into wfg_event_tallies select now(), 'completed', 1, 2 from generate_series(1, 102) n`,
  );
  await using counting = startCounting(db.pool, log);
  await look(db, counting);
  const sums = await waitFor('one row', async () => {
    const { rows } = await db.pool.query('select events::int, busy_ms::int from wfg_event_tallies');
    return rows.length === 1 && rows;
  });
  expect(sums).toEqual([{ events: 102, busy_ms: 204 }]);
});

test('while jobs are very many they are counted for everyone, every few seconds; then no more', async () => {
  await using db = await testDatabase();
  await db.pool.query(`
    insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels)
    select wfg_uuid7(), 0, 'main', 'a', 'a', 'pending', 'event', array[':event a'] from generate_series(1, 20001)`);
  const pending = async () => {
    const { rows } = await db.pool.query<{ pending: number }>(
      `select (counts #>> '{events,statuses,pending}')::int as pending from wfg_counts`,
    );
    return rows[0]?.pending ?? 'nothing counted';
  };
  await using counting = startCounting(db.pool, log);
  const countedWhen = (expected: number | string) =>
    waitFor(`${expected}`, async () => (await pending()) === expected);
  await look(db, counting);
  await countedWhen(20_001);
  await enqueue(db.pool, 'a');
  await look(db, counting);
  expect(await pending()).toBe(20_001);
  await moveClock(db.pool, '1 minute');
  await look(db, counting);
  await countedWhen(20_002);
  await db.pool.query(`delete from wfg_jobs where run_id in (select run_id from wfg_jobs limit 100)`);
  await look(db, counting);
  await countedWhen('nothing counted');
});

test('the process does all of it, says so, and counts it for whoever watches', async () => {
  await using db = await testDatabase();
  const id = await enqueue(db.pool, 'a', { expires_in_secs: 30 });
  const run = await submit(db.pool, { a: {} });
  await db.pool.query(`update wfg_runs set deadline_at = wfg_now() + interval '20 s'`);
  await using reaper = startService('reaper', { DATABASE_URL: db.url, REAP_INTERVAL_SECS: '1' });
  const { health_port } = await reaper.logged('started');
  await moveClock(db.pool, '31 s');
  expect(await reaper.logged('job expired: no worker began it in time')).toMatchObject({
    level: 'warn',
    run_id: id,
    job_id: 'main',
    workflow_type: 'a',
  });
  expect(await reaper.logged('run out of time')).toMatchObject({ level: 'warn', run_id: run });
  await waitFor('the counters', async () => {
    const answer = await fetch(`http://127.0.0.1:${String(health_port)}/metrics`);
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(text).toMatch(/^wfg_jobs_expired_total 1$/m);
    expect(text).toMatch(/^wfg_runs_timed_out_total 1$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    return true;
  });
});

test('known fault 15: one lease that ran out behind 12,000 that are renewed is found by the first pass', async () => {
  await using db = await testDatabase();
  await db.pool.query(`
    insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, attempt, tries, nonce,
      worker_id, instance, lease_secs, lease_expires_at, started_at, begun_at)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 0, 'main', 'a', 'a', 'active', 'event',
      array[':event a'], 0, 1, n, 'w', '00000000-0000-4000-8000-000000000000', 30,
      wfg_now() + case when n = 12001 then interval '-1 s' else interval '30 s' end, wfg_now(), wfg_now()
    from generate_series(1, 12001) n`);
  await reap(db.pool);
  const { rows } = await db.pool.query(`select nonce::int, state from wfg_jobs where state <> 'active'`);
  expect(rows).toEqual([{ nonce: -12_001, state: 'pending' }]);
});

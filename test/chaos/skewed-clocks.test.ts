// known fault 16: workers, schedulers and reapers whose clocks are 10 minutes fast, and as many whose clocks are slow. All
// that has a time keeps that of the database: leases, delays, retries, limits and schedules.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setClock, submit } from '../support/engine.ts';
import { enqueue, eventWhen, isActive, isCompleted, isFailed } from '../support/events.ts';
import { newGate } from '../support/gate.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startService, type TestProcess } from '../support/process.ts';
import { eventsFrom, schedule, ticksOf } from '../support/schedules.ts';
import { waitFor } from '../support/wait-for.ts';
import { jobWhen, reasonsOf, ring, startHandlerWorker } from '../support/worker.ts';

const SKEW_MS = 600_000;
const SKEWS = [SKEW_MS, -SKEW_MS];
const LEASE_SECS = 3;
const PRELOAD = new URL('../support/skewed-clock.ts', import.meta.url).href;

let db: TestDatabase;
let processes: [number, TestProcess][];

beforeAll(async () => {
  db = await testDatabase();
  processes = SKEWS.flatMap((skew) => {
    const env = {
      DATABASE_URL: db.url,
      NODE_OPTIONS: `--import ${PRELOAD}`,
      SKEW_MS: String(skew),
      LEASE_TTL_SECS: String(LEASE_SECS),
      REAP_INTERVAL_SECS: '1',
      WORKER_ID: `w${skew}`,
      WORKER_CONCURRENCY: '1',
      HANDLER_CONCURRENCY: '1',
    };
    const all = [
      startService('scheduler', env),
      startService('reaper', env),
      startHandlerWorker(db.url, env),
    ];
    return all.map((one): [number, TestProcess] => [skew, one]);
  });
  await Promise.all(
    processes.map(([, one]) => waitFor('it to be ready', async () => (await reasonsOf(one)).length === 0)),
  );
});

afterAll(async () => {
  await Promise.all(processes.map(([, one]) => one[Symbol.asyncDispose]()));
  await db[Symbol.asyncDispose]();
});

test('known fault 16: their clocks are wrong indeed', async () => {
  for (const [skew, one] of processes) {
    const { time } = await one.logged('started');
    const at = typeof time === 'string' ? Date.parse(time) : Number(time);
    expect(Math.abs(Date.now() + skew - at)).toBeLessThan(SKEW_MS / 2);
  }
});

test('known fault 16: what runs keeps its lease, and runs once', async () => {
  const gate = newGate();
  const runs = await Promise.all(SKEWS.map(() => submit(db.pool, { job: { run: gate.wait, timeout: 300 } })));
  const options = { timeout_secs: 300 };
  const events = await Promise.all(
    SKEWS.map(() => enqueue(db.pool, 'test.wait', { gate: gate.path }, options)),
  );
  for (const run of runs) await jobWhen(db.pool, run, 'job', ({ state }) => state === 'active');
  for (const id of events) await eventWhen(db.pool, id, isActive);
  const { rows } = await db.pool.query(
    `select kind, count(distinct worker_id)::int as workers from wfg_jobs where state = 'active' group by 1 order by 1`,
  );
  expect(rows).toEqual([
    { kind: 'command', workers: 2 },
    { kind: 'event', workers: 2 },
  ]);
  const begun = performance.now();
  await waitFor('three leases to pass', () => performance.now() - begun > 3_000 * LEASE_SECS);
  await gate.open();
  const once = { attempt: 0, tries: 1 };
  for (const run of runs)
    expect(await jobWhen(db.pool, run, 'job', ({ state }) => state === 'completed')).toMatchObject(once);
  for (const id of events)
    expect(await eventWhen(db.pool, id, isCompleted)).toMatchObject({ ...once, losses: 0 });
});

test('known fault 16: delays and retries are neither early nor late', async () => {
  const { rows } = await db.pool.query<{ soon: Date }>(`select wfg_now() + interval '3 s' as soon`);
  const ids = await Promise.all(
    Array.from({ length: 6 }, () => enqueue(db.pool, 'test.print', {}, { run_at: rows[0]?.soon ?? null })),
  );
  const backoff = { Fixed: { delay_secs: 3 } };
  const again = await enqueue(db.pool, 'test.throw', {}, { max_attempts: 2, backoff });
  for (const id of ids) expect(await eventWhen(db.pool, id, isCompleted)).toMatchObject({ attempt: 0 });
  expect(await eventWhen(db.pool, again, isFailed)).toMatchObject({ tries: 2 });
  const { rows: early } = await db.pool.query(
    `select from wfg_history where run_id = any($1) and started_at < $2
     union all select from wfg_jobs j join wfg_attempts a using (run_id, position)
       where j.run_id = $3 and j.started_at < a.finished_at + interval '3 s'`,
    [ids, rows[0]?.soon, again],
  );
  expect(early).toEqual([]);
});

test('known fault 16: a command is stopped when its time is over, and expires when nobody takes it', async () => {
  const run = await submit(db.pool, { slow: { run: 'sleep 600', timeout: 2 } });
  const late = await enqueue(db.pool, 'test.nobody', {}, { expires_in_secs: 2 });
  const patient = await enqueue(db.pool, 'test.nobody', {}, { expires_in_secs: 500 });
  await ring(db.pool);
  const slow = await jobWhen(db.pool, run, 'slow', ({ state }) => state === 'failed');
  expect(slow).toMatchObject({ attempt: 0, outcome: 'timed_out' });
  expect(await eventWhen(db.pool, late, isFailed)).toMatchObject({ attempt: -1 });
  expect(await eventWhen(db.pool, patient, () => true)).toMatchObject({ state: 'pending' });
});

test('known fault 16: a schedule fires once, on time', async () => {
  await setClock(db.pool, '2027-02-01T00:59:55Z');
  await schedule(db.pool, 'hourly', '0 * * * *');
  await schedule(db.pool, 'ten', '*/10 * * * *');
  await waitFor('the ticks', async () => (await ticksOf(db.pool, 'ten')).length > 0);
  await waitFor('both', async () => (await ticksOf(db.pool, 'hourly')).length > 0);
  const since = performance.now();
  await waitFor('everybody to look again', () => performance.now() - since > 3_000);
  for (const id of ['hourly', 'ten']) {
    expect(await ticksOf(db.pool, id)).toEqual(['fired 2027-02-01T01:00']);
    expect(await eventsFrom(db.pool, id)).toBe(1);
  }
  const { rows } = await db.pool.query('select from wfg_ticks where at < tick_at');
  expect(rows).toEqual([]);
});

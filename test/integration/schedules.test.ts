// Schedules fired by real schedulers while the database's clock is moved: each tick once, whatever happens meanwhile.
import { withTx } from '@wfg/shared/db/tx';
import { readSchedule } from '@wfg/shared/queries/schedules';
import { pruneTicks } from '@wfg/shared/queries/ticks';
import { putWorkflow } from '@wfg/shared/queries/workflows';
import { TICK_DAYS } from '@wfg/shared/rules/catch-up';
import { defineWorkflow } from '@wfg/shared/rules/definition';
import { CHANGE_TICKS, CHANGES } from '../../shared/src/rules/clock-changes.fixture.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { setClock } from '../support/engine.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startService, type TestProcess } from '../support/process.ts';
import { eventsFrom, schedule, ticksOf } from '../support/schedules.ts';
import { waitFor } from '../support/wait-for.ts';

let db: TestDatabase;
let schedulers: TestProcess[] = [];

beforeAll(async () => {
  db = await testDatabase();
  await start();
});

afterAll(async () => {
  await Promise.all(schedulers.map((one) => one[Symbol.asyncDispose]()));
  await db[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await db.pool.query('delete from wfg_schedules');
});

async function start(): Promise<void> {
  schedulers = [1, 2].map(() => startService('scheduler', { DATABASE_URL: db.url }));
  await Promise.all(schedulers.map((one) => one.logged('started')));
}

/** Nobody is there until it is called. */
function stop(): () => Promise<void> {
  for (const one of schedulers) one.signal('SIGSTOP');
  return async () => {
    for (const one of schedulers) one.signal('SIGCONT');
    await caughtUp();
  };
}

async function until(time: string): Promise<void> {
  await setClock(db.pool, time);
  await caughtUp();
}

const caughtUp = () => waitFor('all ticks to be decided', async () => (await due()).length === 0);

test('a tick starts a run of a workflow, and an event, as the schedule says', async () => {
  await setClock(db.pool, '2027-01-01T11:59:30Z');
  const definition = defineWorkflow({ name: 'w', jobs: { a: { run: 'true', env: { A: '1' } } } });
  await withTx(db.pool, (tx) => putWorkflow(tx, 'w', definition));
  await schedule(db.pool, 'run', '0 12 * * *', {
    workflow_id: 'w',
    env: { A: '2' },
    workflow_type: null,
    payload: null,
    max_attempts: null,
    priority: null,
  });
  await schedule(db.pool, 'event', '0 12 * * *', { max_attempts: 7, priority: 5 });
  await until('2027-01-01T12:00:00Z');
  const { rows: runs } = await db.pool.query(
    `select t.outcome, r.workflow_id, r.env, t.at >= t.tick_at as on_time from wfg_ticks t join wfg_runs r on r.id = t.run_id`,
  );
  expect(runs).toEqual([{ outcome: 'fired', workflow_id: 'w', env: { A: '2' }, on_time: true }]);
  const { rows: events } = await db.pool.query(
    `select workflow_type, payload, max_attempts, priority, state from wfg_ticks t join wfg_jobs j on j.run_id = t.run_id
     where t.schedule_id = 'event' and j.position = 0`,
  );
  expect(events).toEqual([
    { workflow_type: 'tick', payload: { from: 'event' }, max_attempts: 7, priority: 5, state: 'pending' },
  ]);
  expect(await readSchedule(db.pool, 'run')).toMatchObject({
    next_at: new Date('2027-01-02T12:00Z'),
    last_tick_at: new Date('2027-01-01T12:00Z'),
    error: null,
  });
});

test('where clocks change each documented tick comes once, also when the schedulers were away', async () => {
  for (const { timezone, season, begin, end } of CHANGES) {
    await setClock(db.pool, begin);
    const crons = ['30 2 * * *', '*/15 * * * *', '0 * * * *'] as const;
    const ids = crons.map((cron, n) => ({ cron, id: `${timezone.slice(0, 1)}-${season}-${n}` }));
    for (const { cron, id } of ids) await schedule(db.pool, id, cron, { timezone, catch_up: 'all' });
    const at = (part: number) =>
      new Date(Date.parse(begin) + part * (Date.parse(end) - Date.parse(begin))).toISOString();
    await until(at(0.4));
    const goOn = stop();
    await setClock(db.pool, at(0.9));
    await goOn();
    await until(end);
    for (const { cron, id } of ids) {
      const expected = CHANGE_TICKS[`${cron} ${timezone} ${season}`];
      expect([id, await ticksOf(db.pool, id)]).toEqual([id, expected.map((tick) => `fired ${tick}`)]);
      expect([id, await eventsFrom(db.pool, id)]).toEqual([id, expected.length]);
    }
    await db.pool.query('delete from wfg_schedules');
  }
});

test('after an outage: skip starts nothing, last the latest, all each; what is missed can be seen', async () => {
  await setClock(db.pool, '2027-02-01T00:30:00Z');
  for (const catch_up of ['skip', 'last', 'all'] as const)
    await schedule(db.pool, catch_up, '0 * * * *', { catch_up });
  const goOn = stop();
  await setClock(db.pool, '2027-02-01T03:10:00Z');
  await goOn();
  const hours = ['2027-02-01T01:00', '2027-02-01T02:00', '2027-02-01T03:00'];
  const [first, second, third] = hours;
  expect(await ticksOf(db.pool, 'skip')).toEqual(hours.map((hour) => `missed ${hour}`));
  expect(await ticksOf(db.pool, 'last')).toEqual([`missed ${first}`, `missed ${second}`, `fired ${third}`]);
  expect(await ticksOf(db.pool, 'all')).toEqual(hours.map((hour) => `fired ${hour}`));
  // A moment too late is not missed.
  await until('2027-02-01T04:00:40Z');
  expect((await ticksOf(db.pool, 'skip')).at(-1)).toBe('fired 2027-02-01T04:00');
});

test('when the clock goes back nothing is started again', async () => {
  await setClock(db.pool, '2027-02-02T00:59:00Z');
  await schedule(db.pool, 'back', '0 * * * *');
  await until('2027-02-02T02:00:01Z');
  await setClock(db.pool, '2027-02-02T00:59:00Z');
  await db.pool.query(`update wfg_schedules set next_at = '2027-02-02T01:00Z'`);
  await until('2027-02-02T03:00:01Z');
  expect(await ticksOf(db.pool, 'back')).toEqual([
    'missed 2027-02-02T01:00',
    'fired 2027-02-02T02:00',
    'fired 2027-02-02T03:00',
  ]);
  expect(await eventsFrom(db.pool, 'back')).toBe(2);
});

test('what cannot be started is a failed tick with its reason, and stops no other schedule', async () => {
  await setClock(db.pool, '2027-02-03T00:59:00Z');
  const run = { env: {}, workflow_type: null, payload: null, max_attempts: null, priority: null };
  await schedule(db.pool, 'a-gone', '0 * * * *', { workflow_id: 'gone', ...run });
  await schedule(db.pool, 'b-broken', '0 * * * *', { workflow_id: 'broken', ...run });
  await schedule(db.pool, 'c-odd', '0 * * * *');
  await schedule(db.pool, 'd-good', '0 * * * *');
  await db.pool.query(`update wfg_schedules set cron = 'odd' where id = 'c-odd'`);
  await db.pool.query(
    `insert into wfg_workflows (id, name, trigger, definition, source) values ('broken', 'b', '', '{}', 'api')`,
  );
  await until('2027-02-03T01:00:01Z');
  const { rows } = await db.pool.query(
    `select schedule_id, outcome, t.error is not null and t.error = s.error as told, next_at is not null as goes_on
     from wfg_ticks t join wfg_schedules s on s.id = schedule_id order by 1`,
  );
  expect(rows).toEqual([
    { schedule_id: 'a-gone', outcome: 'failed', told: true, goes_on: true },
    { schedule_id: 'b-broken', outcome: 'failed', told: true, goes_on: true },
    { schedule_id: 'c-odd', outcome: 'failed', told: true, goes_on: false },
    { schedule_id: 'd-good', outcome: 'fired', told: false, goes_on: true },
  ]);
});

test('one whose ticks cannot even be recorded stops no other schedule', async () => {
  await setClock(db.pool, '2027-02-03T12:59:00Z');
  await schedule(db.pool, 'a-stuck', '0 * * * *');
  await schedule(db.pool, 'b-good', '0 * * * *');
  await db.pool.query(`alter table wfg_ticks add constraint stuck check (schedule_id <> 'a-stuck')`);
  await setClock(db.pool, '2027-02-03T13:00:01Z');
  await waitFor('the other', async () => (await due()).join() === 'a-stuck');
  await db.pool.query('alter table wfg_ticks drop constraint stuck');
  await caughtUp();
  expect(await ticksOf(db.pool, 'a-stuck')).toEqual(['fired 2027-02-03T13:00']);
  expect(await eventsFrom(db.pool, 'a-stuck')).toBe(1);
});

test('many that are due at once are each started once, and one that is held does not keep the others waiting', async () => {
  await setClock(db.pool, '2027-02-04T00:59:00Z');
  const ids = Array.from({ length: 60 }, (_, n) => `m${n}`);
  for (const id of ids) await schedule(db.pool, id, '0 * * * *');
  const holder = await db.pool.connect();
  await holder.query(`begin; select from wfg_schedules where id = 'm7' for update`);
  await setClock(db.pool, '2027-02-04T01:00:00Z');
  await waitFor('the others to be started', async () => (await due()).join() === 'm7');
  await holder.query('rollback');
  holder.release();
  await caughtUp();
  for (const id of ids) expect([id, await eventsFrom(db.pool, id)]).toEqual([id, 1]);
});

test('after kill -9 in the middle of it a tick is started once', async () => {
  await setClock(db.pool, '2027-02-05T00:59:00Z');
  await schedule(db.pool, 'killed', '0 * * * *');
  // They get as far as recording what they have started.
  const holder = await db.pool.connect();
  await holder.query('begin; lock table wfg_ticks in share mode');
  await setClock(db.pool, '2027-02-05T01:00:00Z');
  const firing = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into wfg_ticks%'`;
  await waitFor(
    'a scheduler to be in the middle of it',
    async () => (await db.pool.query(firing)).rowCount === 1,
  );
  for (const one of schedulers) one.signal('SIGKILL');
  await Promise.all(schedulers.map((one) => one.ended));
  await holder.query('rollback');
  holder.release();
  await start();
  await caughtUp();
  expect(await ticksOf(db.pool, 'killed')).toEqual(['fired 2027-02-05T01:00']);
  expect(await eventsFrom(db.pool, 'killed')).toBe(1);
});

test('ticks are forgotten after 30 days', async () => {
  await setClock(db.pool, '2027-03-01T00:00:00Z');
  await schedule(db.pool, 'old', '@daily');
  await db.pool.query(
    `insert into wfg_ticks (schedule_id, tick_at, outcome)
     select 'old', wfg_now() - make_interval(days => n), 'missed' from generate_series(28, 33) n`,
  );
  expect(await pruneTicks(db.pool, TICK_DAYS, 2)).toBe(2);
  expect(await pruneTicks(db.pool, TICK_DAYS, 99)).toBe(2);
  expect(await ticksOf(db.pool, 'old')).toEqual(['missed 2027-01-31T00:00', 'missed 2027-02-01T00:00']);
});

async function due(): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    'select id from wfg_schedules where next_at <= wfg_now()',
  );
  return rows.map(({ id }) => id);
}

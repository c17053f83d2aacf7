// A row that some transaction holds locked, and a start that takes too long, keep nothing else of a scheduler waiting.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { putWorkflow } from '@wfg/shared/queries/workflows';
import { defineWorkflow } from '@wfg/shared/rules/definition';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { advanceRuns, nothingPassed } from '../../services/scheduler/src/advance-runs.ts';
import { fireSchedules } from '../../services/scheduler/src/fire-schedules.ts';
import { advance, claim, finish, states, submit } from '../support/engine.ts';
import { hold } from '../support/locks.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { schedule, ticksOf } from '../support/schedules.ts';

const log = pino({ level: 'silent' });

/** A run of two jobs, the first of which runs; `end` ends it. */
async function begun(db: TestDatabase): Promise<{ run: string; end: () => Promise<unknown> }> {
  const run = await submit(db.pool, { a: {}, b: { needs: 'a' } });
  await advance(db.pool);
  const [job] = await claim(db.pool);
  if (!job) throw new Error('nothing was claimed');
  return { run, end: () => finish(db.pool, job) };
}

test('while a job of one run is held, other runs go on, those found with it and later ones', async () => {
  await using db = await testDatabase();
  const { run: held, end: endHeld } = await begun(db);
  const other = await begun(db);
  const later = await begun(db);
  await endHeld();
  await other.end();
  await using doorbell = createDoorbell(db.pool, log);
  const passed = nothingPassed();
  const { stuck } = passed;
  const pass = () => advanceRuns(db.pool, doorbell, log, passed);
  {
    await using _ = await hold(
      db.pool,
      `select from wfg_jobs where run_id = $1 and job_id = 'b' for update`,
      [held],
    );
    expect(await pass()).toBeGreaterThan(0);
    expect(await states(db.pool, other.run)).toEqual({ a: 'completed', b: 'pending' });
    // It is left alone for a while, so that it spoils no further batch.
    stuck.set(held, Number.POSITIVE_INFINITY);
    await later.end();
    await pass();
    expect(await states(db.pool, later.run)).toEqual({ a: 'completed', b: 'pending' });
    expect(await states(db.pool, held)).toEqual({ a: 'completed', b: 'blocked' });
  }
  stuck.set(held, 0);
  expect(await pass()).toBeNull();
  expect(await states(db.pool, held)).toEqual({ a: 'completed', b: 'pending' });
  expect(stuck.size).toBe(0);
});

test('a run that someone holds locked is looked at again soon, then less and less often', async () => {
  await using db = await testDatabase();
  const held = await begun(db);
  await held.end();
  await using doorbell = createDoorbell(db.pool, log);
  const passed = nothingPassed();
  const pass = () => advanceRuns(db.pool, doorbell, log, passed);
  {
    await using _ = await hold(db.pool, `select from wfg_runs where id = $1 for update`, [held.run]);
    expect(await pass()).toBeLessThanOrEqual(20);
    for (let n = 0; n < 8; n++) await pass();
    const pauseMs = await pass();
    expect(pauseMs).toBeGreaterThan(500);
    expect(pauseMs).toBeLessThanOrEqual(1_000);
  }
  expect(await pass()).toBeNull();
  expect(passed.held).toBe(0);
  expect(await states(db.pool, held.run)).toEqual({ a: 'completed', b: 'pending' });
});

test('a start that runs into the time limit is a failed tick; one that waits for a lock is tried again', async () => {
  await using db = await testDatabase();
  await db.pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin
      if new.workflow_type = 'slow' then raise 'canceling statement due to statement timeout' using errcode = '57014'; end if;
      if new.workflow_type = 'held' then raise 'canceling statement due to lock timeout' using errcode = '55P03'; end if;
      return new;
    end $$;
    create trigger refuse before insert on wfg_jobs for each row execute function refuse()`);
  for (const id of ['held', 'slow', 'well']) await schedule(db.pool, id, '* * * * *', { workflow_type: id });
  await db.pool.query(`update wfg_schedules set next_at = date_trunc('minute', wfg_now())`);
  await using doorbell = createDoorbell(db.pool, log);
  await fireSchedules(db.pool, doorbell, log, new AbortController().signal);
  const outcomes = async (id: string) => (await ticksOf(db.pool, id)).map((tick) => tick.split(' ')[0]);
  expect([await outcomes('held'), await outcomes('slow'), await outcomes('well')]).toEqual([
    [],
    ['failed'],
    ['fired'],
  ]);
});

test('a run of a stored workflow that cannot be read any more ends with the reason', async () => {
  await using db = await testDatabase();
  await putWorkflow(db.pool, 'ci', defineWorkflow({ name: 'CI', jobs: { a: { run: 'true' } } }));
  await db.pool.query(`update wfg_workflows set definition = '{"name":"CI","jobs":[{"id":"a","name":"A"}]}'`);
  await db.pool.query(`select wfg_run('ci')`);
  await advance(db.pool);
  const { rows } = await db.pool.query('select state, error from wfg_runs');
  expect(rows).toEqual([{ state: 'failed', error: expect.stringMatching(/^the workflow is not valid: /) }]);
});

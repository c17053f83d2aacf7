// What /ready says of a service that cannot do its work, and how one ends that never could begin.

import { expect, test } from 'vitest';
import { type ServiceName, startService, type TestProcess } from '../support/process.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf } from '../support/worker.ts';

const isReady = async (service: TestProcess) => (await reasonsOf(service)).length === 0;

test.for<[ServiceName, string, RegExp]>([
  ['reaper', 'wfg_counts', /^sweep: failing for \d+ s: relation "wfg_counts" does not exist$/],
  ['api', 'wfg_workflows', /^workflow-files: failing for \d+ s: relation "wfg_workflows" does not exist$/],
  ['scheduler', 'wfg_runs', /^advance: failing for \d+ s: relation "wfg_runs" does not exist$/],
])('the %s says what fails, and is ready when it works again', async ([name, table, reason]) => {
  await using database = await testDatabase();
  await using service = startService(name, { DATABASE_URL: database.url, REAP_INTERVAL_SECS: '1' });
  await waitFor('it to be ready', () => isReady(service));
  await database.pool.query(`alter table ${table} rename to hidden`);
  await waitFor('it to say so', async () => {
    // The scheduler looks when it is told to, and the api at its files.
    await database.pool.query(`select pg_notify('wfg_events', '{"v":1,"settle":true}')`);
    if (name === 'api') service.signal('SIGHUP');
    return (await reasonsOf(service)).some((said) => reason.test(said));
  });
  await database.pool.query(`alter table hidden rename to ${table}`);
  await waitFor('it to be ready again', () => isReady(service));
  expect(service.logs).toContainEqual(expect.objectContaining({ msg: 'step failed' }));
});

test('the reaper says that it cannot count', async () => {
  await using database = await testDatabase();
  const { pool } = database;
  await pool.query(`
    create function broken() returns trigger language plpgsql as $$ begin raise 'broken by somebody'; end $$;
    create trigger broken before delete on wfg_event_tallies for each row execute function broken();
    insert into wfg_event_tallies select now(), 'completed', 1, 2 from generate_series(1, 102) n`);
  await using reaper = startService('reaper', { DATABASE_URL: database.url, REAP_INTERVAL_SECS: '1' });
  await waitFor('it to say so', async () =>
    (await reasonsOf(reaper)).some((reason) => /^counts: .*broken by somebody$/.test(reason)),
  );
  await pool.query('drop trigger broken on wfg_event_tallies');
  await waitFor('it to be ready', () => isReady(reaper));
  expect(await reasonsOf(reaper)).toEqual([]);
});

test('a pass of the reaper that takes its time is no reason', async () => {
  await using database = await testDatabase();
  await using reaper = startService('reaper', { DATABASE_URL: database.url, REAP_INTERVAL_SECS: '1' });
  await waitFor('it to be ready', () => isReady(reaper));
  const tx = await database.pool.connect();
  try {
    await tx.query('begin; lock table wfg_jobs in access exclusive mode');
    await waitFor('the pass to wait', async () => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where application_name = 'wfg-reaper' and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    expect(await reasonsOf(reaper)).toEqual([]);
  } finally {
    await tx.query('rollback');
    tx.release();
  }
});

test.for<ServiceName>(['api', 'scheduler', 'worker', 'reaper'])(
  'the %s can be stopped while it waits for the schema',
  async (name) => {
    await using database = await testDatabase({ empty: true });
    await using service = startService(name, { DATABASE_URL: database.url, SHUTDOWN_GRACE_SECS: '0' });
    // With what it waits for, if it has looked already.
    expect(await reasonsOf(service)).toEqual([expect.stringMatching(/^starting\b/)]);
    await waitFor('it to look', async () => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where application_name = 'wfg-' || $1`,
        [name],
      );
      return rows.length > 0;
    });
    service.signal('SIGTERM');
    expect((await service.ended).code).toBe(0);
  },
);

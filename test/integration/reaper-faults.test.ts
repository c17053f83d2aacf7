// What the reaper cannot do keeps nothing else of it from being done.
import { requestRequeue } from '@wfg/shared/queries/operations';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { ensurePartitions } from '@wfg/shared/queries/partitions';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { keepHouse } from '../../services/reaper/src/housekeeping.ts';
import { workOperations } from '../../services/scheduler/src/work-operations.ts';
import { claim, claimEvent, enqueue, finish, moveClock, setClock, submit } from '../support/engine.ts';
import { testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { reap } from '../support/reaper.ts';
import { waitFor } from '../support/wait-for.ts';

const silent = pino({ level: 'silent' });

/** A trigger that lets no row of a table be changed for which the condition holds. */
const refusal = (table: string, condition: string) => `
  create function refuse_${table}() returns trigger language plpgsql as $$ begin
    if ${condition} then raise 'refused %', tg_table_name; end if;
    return new;
  end $$;
  create trigger refuse before update on ${table} for each row execute function refuse_${table}()`;

test('a row that cannot be changed holds up no other, and is told once', async () => {
  await using db = await testDatabase();
  for (const type of ['poison', 'well']) {
    await enqueue(db.pool, type, { expires_in_secs: 60 });
    await enqueue(db.pool, `${type} begun`);
    await claimEvent(db.pool, `${type} begun`);
    const run = await submit(db.pool, { a: { needs: [] } });
    await db.pool.query(
      `update wfg_runs set name = $2, deadline_at = wfg_now() + interval '20 s' where id = $1`,
      [run, type],
    );
  }
  await db.pool.query(refusal('wfg_jobs', `old.workflow_type = 'poison'`));
  await db.pool.query(refusal('wfg_runs', `old.name = 'poison'`));
  // What bare SQL may store, and no one can compute with.
  await db.pool.query(
    `update wfg_jobs set kind = 'command', workflow_type = null, spec = '{"run":"true"}', backoff = $1
     where workflow_type = 'poison begun'`,
    [{ Fixed: { delay_secs: 'soon' } }],
  );
  const told: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void told.push(line) });
  await moveClock(db.pool, '61 s');
  await reap(db.pool, log);
  await reap(db.pool, log);
  const { rows: jobs } = await db.pool.query(
    `select coalesce(workflow_type, 'poison begun') as type, state from wfg_jobs where position = 0 order by 1`,
  );
  expect(jobs).toEqual([
    { type: 'poison', state: 'pending' },
    { type: 'poison begun', state: 'active' },
    { type: 'well', state: 'failed' },
    { type: 'well begun', state: 'pending' },
  ]);
  const { rows: runs } = await db.pool.query(
    'select name from wfg_runs where timed_out_at is not null order by name',
  );
  expect(runs).toEqual([{ name: 'well' }]);
  expect(told.map((line) => JSON.parse(line)).sort((a, b) => (a.msg < b.msg ? -1 : 1))).toMatchObject([
    { msg: 'a job that expired cannot be ended', key: { position: 0 }, err: { message: 'refused wfg_jobs' } },
    { msg: 'an expired lease cannot be taken back', key: { position: 0 } },
    { msg: 'the time of a run cannot be ended', err: { message: 'refused wfg_runs' } },
  ]);
});

test('leases that take long to be taken back keep neither runs nor the next look waiting', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {} });
  await claim(db.pool);
  await using reaper = startService('reaper', { DATABASE_URL: db.url, REAP_INTERVAL_SECS: '1' });
  await waitFor('its first look', async () => (await db.pool.query('select from wfg_reaper')).rowCount);
  const holder = await db.pool.connect();
  try {
    // Read where a lease is taken back, and not by a look.
    await holder.query('begin; lock table wfg_handlers in access exclusive mode');
    await moveClock(db.pool, '31 s');
    const [waiting] = await waitFor('it to wait', async () => {
      const found = await db.pool.query<{ pid: number; since: string }>(
        `select pid, query_start::text as since from pg_stat_activity
         where application_name = 'wfg-reaper' and wait_event_type = 'Lock' and query like '%taken%'`,
      );
      return found.rows.length > 0 && found.rows;
    });
    await db.pool.query(`update wfg_runs set deadline_at = wfg_now() - interval '1 s'`);
    expect(await reaper.logged('run out of time')).toMatchObject({ run_id: run });
    const { rows } = await db.pool.query<{ at: string }>('select steady_until::text as at from wfg_reaper');
    await waitFor('a later look, while it waits', async () => {
      const { rowCount } = await db.pool.query(
        `select from wfg_reaper, pg_stat_activity
         where steady_until > $1::timestamptz and pid = $2 and query_start = $3::timestamptz and state = 'active'`,
        [rows[0]?.at, waiting?.pid, waiting?.since],
      );
      return rowCount;
    });
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  await reaper.logged('lease expired');
});

test('what of the housekeeping fails keeps none of the rest from being done', async () => {
  await using db = await testDatabase();
  await setClock(db.pool, '2040-01-01T12:00:00Z');
  await ensurePartitions(db.pool);
  await enqueue(db.pool, 'a');
  await finish(db.pool, await claimEvent(db.pool, 'a'));
  await db.pool.query(`
    insert into wfg_keys (scope, key, expires_at) values ('s', 'k', wfg_now());
    alter table wfg_workers rename to hidden`);
  // A view on the oldest day of the logs, which is therefore not dropped.
  const { rows } = await db.pool.query<{ day: string }>(
    `select inhrelid::regclass::text as day from pg_inherits
     where inhparent = 'wfg_logs'::regclass order by wfg_day_of(inhrelid) limit 1`,
  );
  await db.pool.query(`create view mine as select * from ${rows[0]?.day}`);
  await setClock(db.pool, '2041-06-01T12:00:00Z');
  const config = { RETENTION_RUNS_DAYS: 30, RETENTION_LOGS_DAYS: 14 };
  await expect(keepHouse(db.pool, config, silent)).rejects.toThrow(
    /"wfg_workers" does not exist; cannot drop table/,
  );
  for (const table of ['wfg_history', 'wfg_keys'])
    expect((await db.pool.query(`select from ${table}`)).rowCount).toBe(0);
});

test('an operation that fails keeps no other from being carried out', async () => {
  await using db = await testDatabase();
  for (const type of ['poison', 'well']) {
    await enqueue(db.pool, type, { max_attempts: 1 });
    await finish(db.pool, await claimEvent(db.pool, type), { outcome: 'failed', error: 'no' });
    await requestRequeue(db.pool, { workflow_type: type }, 'me');
  }
  await db.pool.query(refusal('wfg_jobs', `old.workflow_type = 'poison'`));
  await using doorbell = createDoorbell(db.pool, silent);
  const work = () => workOperations(db.pool, doorbell, silent, new AbortController().signal);
  await expect(work()).rejects.toThrow('refused wfg_jobs');
  const { rows } = await db.pool.query('select workflow_type, state from wfg_jobs order by 1');
  expect(rows).toEqual([
    { workflow_type: 'poison', state: 'failed' },
    { workflow_type: 'well', state: 'pending' },
  ]);
});

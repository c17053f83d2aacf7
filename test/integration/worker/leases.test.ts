// Leases are renewed by the clock, three times within their time, and not because something else happens; what became of
// them is looked at much more often.
import { cancelJob } from '@wfg/shared/queries/cancel';
import { expect, test } from 'vitest';
import { reapExpired } from '@wfg/shared/queries/reap';
import { hears } from '../../support/deaf.ts';
import { submit } from '../../support/engine.ts';
import { newGate } from '../../support/gate.ts';
import { hold } from '../../support/locks.ts';
import { testDatabase } from '../../support/postgres.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, ring, startWorker } from '../../support/worker.ts';

test('a job that is started renews no lease of another', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const expiry = async () => {
    const { rows } = await pool.query<{ at: string }>(
      'select lease_expires_at::text as at from wfg_jobs where run_id = $1',
      [long],
    );
    return rows[0]?.at;
  };
  const gate = newGate();
  await using worker = startWorker(url, { LEASE_TTL_SECS: '120' });
  // Beginning to hear is a reason to look at everything.
  await hears(worker);
  const long = await submit(pool, { job: { run: gate.wait } });
  await ring(pool, '{"v":1,"lanes":{"1":1}}');
  await jobWhen(pool, long, 'job', ({ state }) => state === 'active');
  const before = await expiry();
  for (let count = 0; count < 3; count++) {
    const run = await submit(pool, { job: {} });
    await ring(pool, '{"v":1,"lanes":{"1":1}}');
    await jobWhen(pool, run, 'job', ({ state }) => state === 'completed');
  }
  expect(await expiry()).toBe(before);
  await gate.open();
  await jobWhen(pool, long, 'job', ({ state }) => state === 'completed');
});

test('known fault 19: a full worker that hears nothing learns soon of a cancel and of a lost lease', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  await using proxy = await TcpProxy.start(url);
  const env = { LEASE_TTL_SECS: '600', DATABASE_DIRECT_URL: proxy.url };
  await using worker = startWorker(url, env);
  await hears(worker);
  const run = await submit(pool, { cancelled: { run: 'sleep 600' }, lost: { run: 'sleep 600' } });
  await ring(pool);
  for (const job of ['cancelled', 'lost']) await jobWhen(pool, run, job, ({ state }) => state === 'active');
  // Like a network that was cut: nobody is told that nothing comes any more.
  proxy.stall();
  await cancelJob(pool, run, 'cancelled');
  await jobWhen(pool, run, 'cancelled', ({ state }) => state === 'cancelled');
  await pool.query(`update wfg_jobs set nonce = nonce + 1 where job_id = 'lost'`);
  const { job_id } = await worker.logged('lease lost: what ran was stopped, and its result dropped');
  expect(job_id).toBe('lost');
});

test('a lease whose time runs out while someone holds its row is renewed as soon as that is let go', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const gate = newGate();
  await using worker = startWorker(url, { LEASE_TTL_SECS: '3' });
  await hears(worker);
  const run = await submit(pool, { job: { run: gate.wait }, other: { run: gate.wait } });
  await ring(pool);
  for (const job of ['job', 'other']) await jobWhen(pool, run, job, ({ state }) => state === 'active');
  const isExpired = async () => {
    const { rowCount } = await pool.query('select from wfg_jobs where lease_expires_at < wfg_now()');
    return rowCount === 2;
  };
  {
    await using _ = await hold(pool, 'select from wfg_jobs where run_id = $1 for update', [run]);
    await waitFor('the leases to expire', isExpired);
    await waitFor('the worker to wait for them', async () => {
      const { rowCount } = await pool.query(
        `select from pg_stat_activity
         where datname = current_database() and application_name = 'wfg-leases' and wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    expect(await reapExpired(pool, 10)).toEqual([]);
  }
  await waitFor('both to be renewed', async () => {
    const { rows } = await pool.query(
      'select state, attempt, lease_expires_at > wfg_now() as is_renewed from wfg_jobs where run_id = $1',
      [run],
    );
    const renewed = { state: 'active', attempt: 0, is_renewed: true };
    expect(rows).toEqual([renewed, renewed]);
    return true;
  });
  await gate.open();
});

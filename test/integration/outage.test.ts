// An outage, of the database or of every reaper, does not consume leases.
import { renewForeign } from '@wfg/shared/queries/foreign-leases';
import { renewLeases } from '@wfg/shared/queries/leases';
import { reapExpired } from '@wfg/shared/queries/reap';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { claim, moveClock, passOutage, states, submit } from '../support/engine.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { reap } from '../support/reaper.ts';
import { waitFor } from '../support/wait-for.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
beforeEach(async () => {
  await moveClock(db.pool, '0');
  await db.pool.query('delete from wfg_jobs; delete from wfg_runs; delete from wfg_reaper');
});
afterAll(() => db[Symbol.asyncDispose]());

async function claimed(run: string) {
  const [job] = (await claim(db.pool)).filter((one) => one.run_id === run);
  if (!job) throw new Error('nothing was claimed');
  return job;
}

test('a worker that lives keeps what it runs, one that died loses it a lease later', async () => {
  const alive = await submit(db.pool, { a: {} });
  const job = await claimed(alive);
  const dead = await submit(db.pool, { a: {} });
  await claimed(dead);
  await reap(db.pool);
  await passOutage(db.pool, '10 minutes');
  await reap(db.pool);
  await reap(db.pool);
  expect(await renewLeases(db.pool, [job])).toMatchObject([{ held: true }]);
  for (const later of ['10 minutes 10 s', '10 minutes 20 s', '10 minutes 29 s']) {
    await moveClock(db.pool, later);
    await reap(db.pool);
    expect([await states(db.pool, alive), await states(db.pool, dead)]).toEqual([
      { a: 'active' },
      { a: 'active' },
    ]);
    await renewLeases(db.pool, [job]);
  }
  await moveClock(db.pool, '10 minutes 32 s');
  await reap(db.pool);
  expect([await states(db.pool, alive), await states(db.pool, dead)]).toEqual([
    { a: 'active' },
    { a: 'failed' },
  ]);
});

test('two reapers that come back together, and one that comes later, extend leases once', async () => {
  const run = await submit(db.pool, { a: {} });
  await claimed(run);
  await reap(db.pool);
  await passOutage(db.pool, '10 minutes');
  await Promise.all([reap(db.pool), reap(db.pool)]);
  await moveClock(db.pool, '10 minutes 9 s');
  await reap(db.pool);
  await moveClock(db.pool, '10 minutes 31 s');
  await reap(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'failed' });
});

test('a reaper that was stopped between its look and its deed takes nothing back either', async () => {
  const run = await submit(db.pool, { a: {} });
  await claimed(run);
  await reap(db.pool);
  await passOutage(db.pool, '10 minutes');
  expect(await reapExpired(db.pool, 10)).toEqual([]);
});

test('a worker over HTTP may renew what ran out, and has the time of a lease for what took too long', async () => {
  const run = await submit(db.pool, { a: { timeout: 60 } });
  const job = await claimed(run);
  await db.pool.query('update wfg_jobs set instance = null');
  await reap(db.pool);
  await passOutage(db.pool, '10 minutes');
  expect(await renewForeign(db.pool, job)).toEqual({ cancelled: false });
  await reap(db.pool);
  await moveClock(db.pool, '10 minutes 25 s');
  expect(await renewForeign(db.pool, job)).toEqual({ cancelled: false });
  await reap(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'active' });
  await moveClock(db.pool, '10 minutes 31 s');
  await reap(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'failed' });
  expect(await renewForeign(db.pool, job)).toBeNull();
});

test('the process says that there was one', async () => {
  const run = await submit(db.pool, { a: {} });
  await claimed(run);
  await reap(db.pool);
  await passOutage(db.pool, '10 minutes');
  await using reaper = startService('reaper', { DATABASE_URL: db.url, REAP_INTERVAL_SECS: '1' });
  await reaper.logged('after an outage each lease lasts its own time once more');
  expect(await states(db.pool, run)).toEqual({ a: 'active' });
  await moveClock(db.pool, '10 minutes 31 s');
  await reaper.logged('lease expired');
  await waitFor('the job', async () => (await states(db.pool, run)).a === 'failed');
});

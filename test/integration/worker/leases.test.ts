// Leases are renewed by the clock, three times within their time, and not because something else happens.
import { expect, test } from 'vitest';
import { submit } from '../../support/engine.ts';
import { newGate } from '../../support/gate.ts';
import { testDatabase } from '../../support/postgres.ts';
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
  await worker.logged('hearing bells');
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

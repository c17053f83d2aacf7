// stop_worker: a worker finishes what it runs, however long that takes, claims nothing more and exits 0.
import { expect, test } from 'vitest';
import { listener } from '../../support/ear.ts';
import { submit } from '../../support/engine.ts';
import { newGate } from '../../support/gate.ts';
import { testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';
import { attemptsOf } from '../../support/events.ts';
import { jobWhen, reasonsOf, ring, startWorker } from '../../support/worker.ts';

async function stopped() {
  const database = await testDatabase();
  const { pool, url } = database;
  const gate = newGate();
  const run = await submit(pool, { long: { run: gate.wait } });
  const worker = startWorker(url, { SHUTDOWN_GRACE_SECS: '0' });
  await jobWhen(pool, run, 'long', ({ state }) => state === 'active');
  await waitFor('it to hear', async () => (await reasonsOf(worker)).length === 0);
  await ring(pool, 'stop_worker');
  await waitFor('it to stop claiming', async () =>
    (await reasonsOf(worker)).includes('stop_worker: takes nothing more'),
  );
  return { database, pool, gate, run, worker };
}

test('stop_worker lets a job run on beyond the grace', async () => {
  const { database, pool, gate, run, worker } = await stopped();
  await using _ = database;
  const other = await submit(pool, { job: {} });
  await ring(pool);
  await waitFor('the worker to be shown as draining', async () => {
    const { rows } = await pool.query<{ draining: boolean }>('select draining from wfg_workers');
    return rows[0]?.draining;
  });
  await gate.open();
  expect(await worker.ended).toEqual({ code: 0, signal: null });
  expect(await jobWhen(pool, run, 'long', () => true)).toMatchObject({ state: 'completed', attempt: 0 });
  expect(await jobWhen(pool, other, 'job', () => true)).toMatchObject({ state: 'pending', attempt: -1 });
});

test('SIGTERM meanwhile applies the grace', async () => {
  const { database, pool, run, worker } = await stopped();
  await using _ = database;
  await using ear = await listener(database.url);
  worker.signal('SIGTERM');
  expect(await worker.ended).toEqual({ code: 0, signal: null });
  // The others learn of it at once.
  await waitFor('the lane to be rung', () => ear.bells.some(({ lanes }) => lanes !== undefined));
  expect(await jobWhen(pool, run, 'long', () => true)).toMatchObject({
    state: 'pending',
    outcome: 'handed_back',
    tries: 0,
    error: null,
  });
  expect(await attemptsOf(pool, run)).toEqual([
    { try: 1, outcome: 'handed_back', error: 'shutdown: the worker was stopped' },
  ]);
});

test('stop_worker is obeyed by the worker it names', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  await using other = startWorker(url, { WORKER_ID: 'w2' });
  const worker = startWorker(url);
  for (const one of [other, worker])
    await waitFor('it to hear', async () => (await reasonsOf(one)).length === 0);
  await ring(pool, '{"type":"stop_worker","worker_id":"w1"}');
  expect(await worker.ended).toEqual({ code: 0, signal: null });
  expect(await waitFor('it to be ready', async () => (await reasonsOf(other)).length === 0)).toBe(true);
});

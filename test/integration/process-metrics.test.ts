// What each process tells of itself at /metrics of its HEALTH_PORT.
import { expect, test } from 'vitest';
import { enqueue, submit } from '../support/engine.ts';
import { isDeaf } from '../support/deaf.ts';
import { testDatabase } from '../support/postgres.ts';
import { type ServiceName, startService } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';
import { HOST_START_MS, metricsOf, ring, startHandlerWorker, startWorker } from '../support/worker.ts';

test('a worker counts what it claimed and reported', async () => {
  await using database = await testDatabase();
  await using worker = startWorker(database.url);
  await submit(database.pool, { a: {}, b: { run: 'false' } });
  const text = await waitFor('two results', async () => {
    const now = await metricsOf(worker);
    return /^wfg_results_total\{answer="applied"\} 2$/m.test(now) && now;
  });
  expect(text).toMatch(/^wfg_jobs_claimed_total\{kind="command"\} 2$/m);
});

test('a worker counts what its handler hosts claimed and reported', async () => {
  await using database = await testDatabase();
  await using worker = startHandlerWorker(database.url);
  await enqueue(database.pool, 'test.print');
  const counted = [
    /^wfg_jobs_claimed_total\{kind="event"\} 1$/m,
    /^wfg_claims_total\{why="\w+",found="yes"\} 1$/m,
    /^wfg_results_total\{answer="applied"\} 1$/m,
  ];
  const all = async () => {
    const text = await metricsOf(worker);
    return counted.every((line) => line.test(text));
  };
  expect(await waitFor('all to be counted', all, HOST_START_MS)).toBe(true);
});

test.each<ServiceName>(['api', 'scheduler', 'worker', 'reaper'])(
  'the %s tells of its memory, its event loop, and what fails',
  async (name) => {
    await using database = await testDatabase();
    await using service = startService(name, { DATABASE_URL: database.url, WORKFLOWS_DIR: 'none' });
    const text = await metricsOf(service);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds [\d.e-]+$/m);
    expect(text).toMatch(/^# TYPE wfg_loop_failures_total counter$/m);
    expect(text).toMatch(/^# TYPE wfg_bells_rung_total counter$/m);
  },
);

test.skipIf(isDeaf)('a worker tells whether it hears, what it heard, and why it claimed', async () => {
  await using database = await testDatabase();
  await using worker = startWorker(database.url);
  const beaten = /^wfg_bells_heard_total\{about="beat"\} [1-9]/m;
  await waitFor('it to hear', async () => beaten.test(await metricsOf(worker)));
  await ring(database.pool);
  const text = await waitFor('it to look', async () => {
    const now = await metricsOf(worker);
    return /^wfg_claims_total\{why="bell",found="no"\} [1-9]/m.test(now) && now;
  });
  expect(text).toMatch(/^wfg_bells_heard_total\{about="all"\} 1$/m);
  expect(text).toMatch(/^wfg_deaf 0$/m);
  expect(text).toMatch(/^wfg_beats_rung_total [1-9]/m);
  expect(text).toMatch(/^wfg_resyncs_total 1$/m);
  expect(text).toMatch(/^wfg_deafened_total 0$/m);
  expect(text).toMatch(/^wfg_claimers_hot 0$/m);
});

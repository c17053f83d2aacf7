// A worker whose machine is broken gives jobs back, says so and takes no more, until it can execute something again.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { submit } from '../../support/engine.ts';
import { newGate } from '../../support/gate.ts';
import { testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, reasonsOf, ring, startWorker } from '../../support/worker.ts';

test('a folder that was removed under a worker costs no try, nor what runs', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const TMPDIR = await mkdtemp(join(inject('runFolder'), 'tmp-'));
  const gate = newGate();
  const long = await submit(pool, { job: { run: `echo begun; ${gate.wait}` } });
  await using worker = startWorker(url, { TMPDIR });
  await waitFor('it to begin', async () => (await pool.query('select from wfg_logs')).rows.length > 0);
  for (const name of await readdir(TMPDIR)) await rm(join(TMPDIR, name), { recursive: true });
  const run = await submit(pool, { job: {} });
  await ring(pool);
  expect(await jobWhen(pool, run, 'job', ({ state }) => state === 'completed')).toMatchObject({
    tries: 1,
    attempt: 1,
  });
  await gate.open();
  expect(await jobWhen(pool, long, 'job', ({ state }) => state === 'completed')).toMatchObject({
    attempt: 0,
  });
  expect(await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0)).toBe(true);
});

test('while it cannot execute anything it leaves the queue alone', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const TMPDIR = await mkdtemp(join(inject('runFolder'), 'tmp-'));
  await using worker = startWorker(url, { TMPDIR });
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
  await rm(TMPDIR, { recursive: true });
  const jobs = Array.from({ length: 20 }, (_, index) => [`job-${index}`, {}] as const);
  const run = await submit(pool, Object.fromEntries(jobs));
  await ring(pool);
  await waitFor('it to say so', async () =>
    (await reasonsOf(worker)).some((said) => /^commands: none can be started for \d+ s: .*ENOENT/.test(said)),
  );
  await waitFor(
    'it to try and fail',
    () => worker.logs.filter(({ msg }) => msg?.startsWith('commands cannot')).length > 3,
  );
  const { rows } = await pool.query<{ outcome: string; count: number }>(
    'select outcome, count(*) from wfg_attempts where run_id = $1 group by outcome',
    [run],
  );
  expect(rows).toEqual([{ outcome: 'handed_back', count: 2 }]);

  await mkdir(TMPDIR);
  for (const [job] of jobs) {
    const { tries } = await jobWhen(pool, run, job, ({ state }) => state === 'completed');
    expect(tries).toBe(1);
  }
  expect(await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0)).toBe(true);
  expect((await readdir(TMPDIR)).length).toBe(1);
});

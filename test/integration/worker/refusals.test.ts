// What the database refuses is the fault of the one job it came from: nothing else of the worker waits for it.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createLogSink, type Dropped } from '../../../services/worker/src/log-sink.ts';
import { createReporter } from '../../../services/worker/src/reporter.ts';
import { claim, enqueue, reportOf, states, submit } from '../../support/engine.ts';
import { newGate } from '../../support/gate.ts';
import { testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, reasonsOf, startWorker } from '../../support/worker.ts';

const log = pino({ level: 'silent' });
const day = new Date().toISOString().slice(0, 10);

function chunk(line: number, data: string) {
  return { stream: 'stdout' as const, line, lines: line, bytes: 10 * line, at: new Date(), data };
}

async function storedLogs(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ text: string }>(
    `select job_id || ': ' || data as text from wfg_logs join wfg_jobs using (run_id, position)
     order by position, sequence`,
  );
  return rows.map(({ text }) => text);
}

test('a chunk that cannot be stored drops the log of its attempt, sealed where it ends', async () => {
  await using database = await testDatabase();
  const { pool } = database;
  await submit(pool, { a: {}, bad: {}, b: {} });
  const jobs = await claim(pool);
  await using doorbell = createDoorbell(pool, log);
  await using sink = createLogSink(pool, doorbell, log);
  const dropped = new Map<string, Dropped>();
  const logs = jobs.map((job) => sink.open(job, day, (why) => dropped.set(job.job_id, why)));
  await Promise.all(logs.map((one) => one.write(chunk(1, 'one'))));
  await waitFor('the first chunks', async () => (await storedLogs(pool)).length === 3);
  await Promise.all(
    logs.map((one, index) => one.write(chunk(2, jobs[index]?.job_id === 'bad' ? '\0' : 'two'))),
  );
  const whole = { chunks: 2, lines: 2, bytes: 20 };
  expect(await Promise.all(logs.map((one) => one.close()))).toEqual([
    whole,
    { chunks: 1, lines: 1, bytes: 10 },
    whole,
  ]);
  expect(await storedLogs(pool)).toEqual(['a: one', 'a: two', 'bad: one', 'b: one', 'b: two']);
  const refusal: unknown = expect.objectContaining({ code: '22021' });
  expect([...dropped]).toEqual([['bad', { refusal }]]);
});

test('a job whose log is refused is stopped and fails with that reason, and others go on', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  await pool.query(`alter table wfg_logs add constraint no_poison check (data not like '%poison%')`);
  const never = newGate();
  const run = await submit(pool, {
    bad: { run: `echo poison; ${never.wait}` },
    good: { run: 'echo fine; sleep 0.1; echo fine too' },
    later: { run: 'echo fine' },
  });
  await using worker = startWorker(url);
  for (const job of ['good', 'later']) await jobWhen(pool, run, job, ({ state }) => state === 'completed');
  const { error } = await jobWhen(pool, run, 'bad', ({ state }) => state === 'failed');
  expect(error).toMatch(/^its log cannot be stored: .*"no_poison"$/);
  expect(await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0)).toBe(true);
});

test('a result that cannot be stored is refused, and the others of its batch have their answers', async () => {
  await using database = await testDatabase();
  const { pool } = database;
  const run = await submit(pool, { a: {}, bad: {}, b: {}, c: {} });
  const jobs = await claim(pool);
  await using doorbell = createDoorbell(pool, log);
  await using reporter = createReporter(pool, doorbell, log);
  const answers = await Promise.allSettled(
    jobs.map((job) => reporter.report(reportOf(job, job.job_id === 'bad' ? { error: '\0' } : {}))),
  );
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(await states(pool, run)).toEqual({ a: 'completed', bad: 'active', b: 'completed', c: 'completed' });
});

test('what cannot be stored at the moment is repeated, and holds nothing else up', async () => {
  await using database = await testDatabase();
  const { pool } = database;
  const run = await submit(pool, { held: {}, a: {}, b: {} });
  const jobs = await claim(pool);
  await using doorbell = createDoorbell(pool, log);
  await using reporter = createReporter(pool, doorbell, log);
  await pool.query(`
    create function hold() returns trigger language plpgsql
      as $$ begin raise 'held by somebody' using errcode = 'lock_not_available'; end $$;
    create trigger hold before update on wfg_jobs for each row when (old.job_id = 'held') execute function hold()`);
  const [held, ...others] = jobs.map(async (job) => (await reporter.report(reportOf(job))).answer);
  expect(await Promise.all(others)).toEqual(['applied', 'applied']);
  await waitFor('it to be tried again', () => reporter.problem()?.endsWith('held by somebody'));
  await pool.query('drop trigger hold on wfg_jobs');
  expect(await held).toBe('applied');
  expect(await states(pool, run)).toEqual({ held: 'completed', a: 'completed', b: 'completed' });
});

test('a whole batch that cannot be stored at the moment keeps none behind it from being sent', async () => {
  await using database = await testDatabase();
  const { pool } = database;
  for (let n = 0; n < 200; n++) await enqueue(pool, 'held');
  await enqueue(pool, 'good');
  const jobs = await claim(pool, { labels: [':event held', ':event good'], limit: 201 });
  await pool.query(`
    create function hold() returns trigger language plpgsql
      as $$ begin raise 'held by somebody' using errcode = 'lock_not_available'; end $$;
    create trigger hold before delete on wfg_jobs for each row when (old.workflow_type = 'held')
      execute function hold()`);
  await using doorbell = createDoorbell(pool, log);
  await using reporter = createReporter(pool, doorbell, log);
  const answers = jobs.map(async (job) => (await reporter.report(reportOf(job))).answer);
  expect(await answers.at(-1)).toBe('applied');
  await pool.query('drop trigger hold on wfg_jobs');
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['applied']));
});

test('a database that refuses every log and every result fails no job: that is said, and waited for', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  await pool.query(`
    create function broken() returns trigger language plpgsql as $$ begin raise 'broken by somebody'; end $$;
    create trigger broken before insert on wfg_logs for each row execute function broken();
    create trigger broken before update on wfg_jobs for each row when (old.state = 'active') execute function broken()`);
  const run = await submit(pool, { a: { run: 'echo one' } });
  await using worker = startWorker(url);
  const said = (what: string) =>
    waitFor(`/ready to say that of ${what}`, async () =>
      (await reasonsOf(worker)).some(
        (reason) => reason.startsWith(what) && reason.endsWith('broken by somebody'),
      ),
    );
  await said('logs: ');
  await pool.query('drop trigger broken on wfg_logs');
  await said('results: ');
  await pool.query('drop trigger broken on wfg_jobs');
  const job = await jobWhen(pool, run, 'a', ({ state }) => state === 'completed');
  expect(job).toMatchObject({ attempt: 0, tries: 1, error: null });
  expect(await storedLogs(pool)).toEqual(['a: one\n']);
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
});

test('a job whose command cannot be read fails, and what was claimed with it runs', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const run = await submit(pool, { a: {}, bad: {}, b: {} });
  await pool.query(`update wfg_jobs set spec = '{"run": 7}' where job_id = 'bad'`);
  await using _ = startWorker(url, { WORKER_CONCURRENCY: '3' });
  for (const id of ['a', 'b']) await jobWhen(pool, run, id, ({ state }) => state === 'completed');
  const { error } = await jobWhen(pool, run, 'bad', ({ state }) => state === 'failed');
  expect(error).toContain('expected string, received number');
});

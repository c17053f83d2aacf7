// Who may claim what, in which order, and that nobody claims it twice.
import { submitRun } from '@wfg/shared/queries/submit';
import { defineWorkflow } from '@wfg/shared/rules/definition';
import { expect, test } from 'vitest';
import { advance, claim, finish, moveClock, submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';

const ids = (jobs: { job_id: string }[]) => jobs.map((job) => job.job_id);

test('roots are claimed in the order of the file, oldest run first', async () => {
  await using db = await testDatabase();
  await submit(db.pool, { z: {}, y: {}, a: {} });
  await submit(db.pool, { first: {} });
  expect(ids(await claim(db.pool, { limit: 2 }))).toEqual(['z', 'y']);
  expect(ids(await claim(db.pool))).toEqual(['a', 'first']);
  expect(await claim(db.pool)).toEqual([]);
});

test('a job goes only to workers that offer all its labels, and never blocks others', async () => {
  await using db = await testDatabase();
  await submit(db.pool, { gpu: { labels: ['gpu', 'linux'] }, plain: {} });
  expect(ids(await claim(db.pool))).toEqual(['plain']);
  expect(await claim(db.pool, { labels: ['gpu'] })).toEqual([]);
  expect(ids(await claim(db.pool, { labels: ['linux', 'big', 'gpu'] }))).toEqual(['gpu']);
});

test('order holds across sets of labels: priority, then age', async () => {
  await using db = await testDatabase();
  await submit(db.pool, { old: {} });
  await submit(db.pool, { gpu: { labels: ['gpu'] } });
  await submit(db.pool, { young: {} });
  await submit(db.pool, { urgent: { priority: 5 }, low: { priority: -1 } });
  const claimed = await claim(db.pool, { labels: ['gpu'], limit: 5 });
  expect(ids(claimed)).toEqual(['urgent', 'old', 'gpu', 'young', 'low']);
});

test('twenty claimers at once take two hundred jobs, each once, though they skip each other', async () => {
  await using db = await testDatabase();
  const jobs = Array.from({ length: 200 }, (_, index) => [`j${index}`, { run: 'true' }]);
  await submitRun(db.pool, null, defineWorkflow({ name: 'many', jobs: Object.fromEntries(jobs) }), {});
  const claims = await Promise.all(
    Array.from({ length: 20 }, (_, index) => claim(db.pool, { limit: 10, workerId: `w${index}` })),
  );
  expect(claims.map((taken) => taken.length)).toEqual(claims.map(() => 10));
  expect(new Set(ids(claims.flat())).size).toBe(200);
});

test('a locked row at the front of the queue hides nothing behind it', async () => {
  await using db = await testDatabase();
  await submit(db.pool, { a: {}, b: {}, c: {}, d: {} });
  const holder = await db.pool.connect();
  await holder.query('begin');
  await holder.query("select from wfg_jobs where job_id in ('a', 'b', 'c') for update");
  expect(ids(await claim(db.pool, { limit: 1 }))).toEqual(['d']);
  await holder.query('rollback');
  holder.release();
});

test('a job that is not due yet is not claimed, and is when the clock of the database says so', async () => {
  await using db = await testDatabase();
  await submit(db.pool, { a: { retry: { max_retries: 1, backoff: { Fixed: { delay_secs: 60 } } } } });
  const [first] = await claim(db.pool);
  if (!first) throw new Error('nothing claimed');
  await finish(db.pool, first, { outcome: 'failed', error: 'exit code 1: ' });
  await advance(db.pool);
  expect(await claim(db.pool)).toEqual([]);
  await moveClock(db.pool, '59 seconds');
  expect(await claim(db.pool)).toEqual([]);
  await moveClock(db.pool, '61 seconds');
  const [second] = await claim(db.pool);
  expect(second).toMatchObject({ job_id: 'a', attempt: 1, tries: 2 });
});

// What a process remembers of its claims: nothing that is due stays behind for longer than a second.
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { finishJobs } from '@wfg/shared/queries/finish';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { claim, reportOf } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;
let memory: ClaimMemory;
/** Goes on by one with each look at the clock, so that reading from the start takes one millisecond. */
let ms = 0;

beforeEach(async () => {
  db = await testDatabase();
  memory = new ClaimMemory();
  vi.spyOn(performance, 'now').mockImplementation(() => ++ms);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await db[Symbol.asyncDispose]();
});

/** Events that became due so long ago, a microsecond after each other. */
async function insert(
  name: string,
  ago: string,
  { count = 1, priority = 0, label = 'a' } = {},
): Promise<void> {
  await db.pool.query(
    `insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, priority, run_at)
     select wfg_uuid7(), 0, 'main', $1, 't', 'pending', 'event', array[$5], $4::int,
       wfg_now() - $2::interval + g * interval '1 us'
     from generate_series(1, $3::int) g`,
    [name, ago, count, priority, label],
  );
}

const take = async (limit = 1, labels = ['a', 'b']) => {
  const claimed = await claim(db.pool, { limit, labels, memory });
  return (await namesOf(claimed.map((job) => job.run_id))).join(' ');
};

async function namesOf(runs: string[]): Promise<string[]> {
  const { rows } = await db.pool.query<{ name: string }>(
    `select name from unnest($1::uuid[]) with ordinality as asked (run_id, nth) join wfg_jobs using (run_id) order by nth`,
    [runs],
  );
  return rows.map((row) => row.name);
}

test('what is older than the last claimed waits behind a backlog, and no longer than a second', async () => {
  await insert('backlog', '1 hour', { count: 100 });
  expect(await take()).toBe('backlog');
  await insert('late', '2 hours');
  await insert('urgent', '1 hour', { label: 'b', priority: 9 });
  expect(await take()).toBe('backlog');
  ms += 1_000;
  expect(await take(3)).toBe('urgent late backlog');
});

test('it waits for no longer than thirty times what reading from the start takes', async () => {
  await insert('backlog', '1 hour', { count: 100 });
  expect(await take()).toBe('backlog');
  await insert('late', '2 hours');
  ms += 30;
  expect(await take()).toBe('late');
});

test('what became due up to two seconds before the last claimed does not wait at all', async () => {
  await insert('backlog', '0 seconds', { count: 100 });
  expect(await take()).toBe('backlog');
  await insert('late', '1 second');
  expect(await take(2)).toBe('late backlog');
});

test('a claim that is not filled from memory reads from the start at once', async () => {
  await insert('backlog', '1 hour', { count: 3 });
  expect(await take()).toBe('backlog');
  await insert('late', '2 hours');
  await insert('new lane', '3 hours', { label: 'b' });
  expect(await take(10)).toBe('backlog backlog new lane late');
  // Nothing was left, so nothing is remembered.
  await insert('older still', '4 hours');
  await insert('again', '1 hour');
  expect(await take(10)).toBe('older still again');
});

test('order holds among the lanes that are remembered', async () => {
  await insert('urgent', '1 hour', { count: 3, priority: 9, label: 'b' });
  await insert('backlog', '2 hours', { count: 10 });
  expect(await take()).toBe('urgent');
  expect(await take(3)).toBe('urgent urgent backlog');
  await insert('urgent', '1 minute', { priority: 9, label: 'b' });
  expect(await take(2)).toBe('urgent backlog');
});

test('what was claimed last and comes back is first again', async () => {
  await insert('a', '2 hours');
  await insert('b', '1 hour', { count: 3 });
  const [job] = await claim(db.pool, { limit: 1, labels: ['a'], memory });
  if (!job) throw new Error('nothing claimed');
  await finishJobs(db.pool, [reportOf(job, { outcome: 'handed_back' })]);
  expect(await take(1, ['a'])).toBe('a');
});

test('what was claimed with other labels is another matter', async () => {
  await insert('a', '1 hour', { count: 3 });
  await insert('b', '2 hours', { count: 3, label: 'b' });
  expect(await take(1, ['a'])).toBe('a');
  expect(await take(1, ['b'])).toBe('b');
  expect(await take(1)).toBe('b');
});

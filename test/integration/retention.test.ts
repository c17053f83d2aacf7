// What a reaper removes when it is past its time, and what it leaves.
import type { LogChunk } from '@wfg/shared/contract/log';
import type { ClaimedJob } from '@wfg/shared/queries/claim';
import { readAttempts } from '@wfg/shared/queries/attempts';
import { countEvents } from '@wfg/shared/queries/counts';
import { listEvents, readEvent } from '@wfg/shared/queries/events';
import { readJobLog } from '@wfg/shared/queries/job-log';
import { ensurePartitions } from '@wfg/shared/queries/partitions';
import { readRun } from '@wfg/shared/queries/run';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { applyRetention } from '../../services/reaper/src/retention.ts';
import { advance, claim, claimEvent, enqueue, finish, print, setClock, submit } from '../support/engine.ts';
import { testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';

const log = pino({ level: 'silent' });
const config = { RETENTION_RUNS_DAYS: 30, RETENTION_LOGS_DAYS: 14 };

/** Noon of the n-th day, with the partitions of the days around it. */
async function setDay(pool: Pool, day: number): Promise<void> {
  await setClock(pool, new Date(Date.UTC(2040, 0, 1 + day, 12)).toISOString());
  await ensurePartitions(pool);
}

/** What the reaper does on that day. */
async function reapOn(pool: Pool, day: number): Promise<boolean> {
  await setDay(pool, day);
  return applyRetention(pool, config, log);
}

const sealed = { log_chunks: 2, log_lines: 4, log_bytes: 4 };

/** Prints two chunks and fails; tried again at once. */
async function failLoudly(pool: Pool, job: ClaimedJob | undefined): Promise<void> {
  if (!job) throw new Error('nothing to claim');
  await print(pool, job, 0, 2);
  await finish(pool, job, { outcome: 'failed', error: 'no', ...sealed });
}

async function logOf(pool: Pool, run: string): Promise<string[]> {
  const job = await readAttempts(pool, run, 'main').then(async (it) => it ?? readAttempts(pool, run, 'a'));
  if (!job) throw new Error('no such job');
  const chunks: LogChunk[] = [];
  for await (const page of readJobLog(pool, job, {})) chunks.push(...page);
  return chunks.map(({ data }) => data.trimEnd());
}

const rowsOf = async (pool: Pool, table: string) => (await pool.query(`select from ${table}`)).rowCount ?? 0;

test('a log goes 14 whole days after its attempt began, the run and its event 30 after they ended', async () => {
  await using db = await testDatabase();
  const { pool } = db;
  await setDay(pool, 0);
  const run = await submit(pool, { a: { retries: 1 } });
  await failLoudly(pool, (await claim(pool))[0]);
  await failLoudly(pool, (await claim(pool))[0]);
  await advance(pool);
  const event = await enqueue(pool, 'e');
  await finish(pool, await claimEvent(pool, 'e'));
  expect(await reapOn(pool, 14)).toBe(true);
  expect(await logOf(pool, run)).toEqual(['0:0', '0:1', '1:0', '1:1']);
  await reapOn(pool, 15);
  const expired = '[wfg] this log has expired: 2 chunks of 2040-01-01 are kept no more';
  expect(await logOf(pool, run)).toEqual([expired, expired]);

  await reapOn(pool, 30);
  expect(await readRun(pool, run)).toMatchObject({ status: 'failed', jobs: [{ job_id: 'a', attempt: 1 }] });
  expect((await readAttempts(pool, run, 'a'))?.attempts).toHaveLength(2);
  expect(await countEvents(pool)).toMatchObject({ total: 1, statuses: { completed: 1 } });
  await reapOn(pool, 31);
  expect(await readRun(pool, run)).toBeNull();
  expect(await readAttempts(pool, run, 'a')).toBeNull();
  expect(await readEvent(pool, event)).toBeNull();
  const left = ['wfg_runs', 'wfg_history', 'wfg_attempts', 'wfg_logs'].map((table) => rowsOf(pool, table));
  expect(await Promise.all(left)).toEqual([0, 0, 0, 0]);
  expect(await countEvents(pool)).toMatchObject({ total: 0, busy_ms: 0 });
  const { rows } = await pool.query(`
    select inhparent::regclass::text as name, min(wfg_day_of(inhrelid))::text as oldest
    from pg_inherits where inhparent = any('{wfg_history,wfg_logs}'::regclass[]) group by 1 order by 1`);
  expect(rows).toEqual([
    { name: 'wfg_history', oldest: '2040-01-02' },
    { name: 'wfg_logs', oldest: '2040-01-18' },
  ]);
});

test('a dead letter and a run that goes on stay, without their attempts of long ago', async () => {
  await using db = await testDatabase();
  const { pool } = db;
  await setDay(pool, 0);
  const dead = await enqueue(pool, 'e', { max_attempts: 2 });
  await finish(pool, await claimEvent(pool, 'e'), { outcome: 'failed', error: 'once' });
  await setDay(pool, 1);
  await finish(pool, await claimEvent(pool, 'e'), { outcome: 'failed', error: 'twice' });
  const open = await submit(pool, { a: { labels: ['nobody'] } });
  await reapOn(pool, 400);
  expect(await readEvent(pool, dead)).toMatchObject({ status: 'dead_lettered', last_error: 'twice' });
  expect((await readAttempts(pool, dead, 'main'))?.attempts).toMatchObject([{ attempt: 1, error: 'twice' }]);
  expect(await readRun(pool, open)).toMatchObject({ status: 'pending' });
  const { events } = await listEvents(pool, { limit: 10 });
  expect(events).toHaveLength((await countEvents(pool)).total);
});

test('the day on which an attempt began that still runs keeps its log, whatever the others do', async () => {
  await using db = await testDatabase();
  const { pool } = db;
  await setDay(pool, 0);
  const long = await submit(pool, { a: {} });
  const [job] = await claim(pool);
  if (!job) throw new Error('nothing to claim');
  await print(pool, job, 0, 1);
  await setDay(pool, 1);
  const brief = await submit(pool, { a: {} });
  await failLoudly(pool, (await claim(pool))[0]);
  await advance(pool);
  await reapOn(pool, 20);
  expect(await logOf(pool, brief)).toEqual([expect.stringContaining('expired')]);
  await print(pool, job, 1, 2);
  expect(await logOf(pool, long)).toEqual(['0:0', '0:1']);
  await finish(pool, job, sealed);
  await applyRetention(pool, config, log);
  expect(await logOf(pool, long)).toEqual([expect.stringContaining('expired')]);
});

test('what somebody reads is left for later, and the run with it', async () => {
  await using db = await testDatabase();
  const { pool } = db;
  await setDay(pool, 0);
  const run = await submit(pool, { a: {} });
  await failLoudly(pool, (await claim(pool))[0]);
  await advance(pool);
  const reader = await pool.connect();
  try {
    await reader.query('begin; select from wfg_history');
    expect(await reapOn(pool, 31)).toBe(false);
    expect(await readRun(pool, run)).toMatchObject({ jobs: [{ job_id: 'a' }] });
    expect(await logOf(pool, run)).toEqual([expect.stringContaining('expired')]);
  } finally {
    await reader.query('rollback');
    reader.release();
  }
  expect(await applyRetention(pool, config, log)).toBe(true);
  expect(await readRun(pool, run)).toBeNull();
});

test('several reapers at once do no harm', async () => {
  await using db = await testDatabase();
  const { pool } = db;
  await setDay(pool, 0);
  for (let n = 0; n < 3; n++) await submit(pool, { a: {} });
  for (const job of await claim(pool)) await finish(pool, job);
  await advance(pool);
  await setDay(pool, 31);
  await Promise.all(Array.from({ length: 4 }, () => applyRetention(pool, config, log)));
  await applyRetention(pool, config, log);
  expect(await rowsOf(pool, 'wfg_runs')).toBe(0);
  expect(await rowsOf(pool, 'wfg_history')).toBe(0);
});

test('the process applies it as it is configured', async () => {
  await using db = await testDatabase();
  const { pool } = db;
  await setDay(pool, 0);
  const run = await submit(pool, { a: {} });
  for (const job of await claim(pool)) await finish(pool, job);
  await advance(pool);
  await setDay(pool, 3);
  const env = { DATABASE_URL: db.url, RETENTION_RUNS_DAYS: '2', RETENTION_LOGS_DAYS: '1' };
  await using reaper = startService('reaper', env);
  expect(await reaper.logged('day past retention dropped')).toMatchObject({ table: 'wfg_logs' });
  expect(await reaper.logged('runs past retention removed')).toMatchObject({ runs: 1 });
  await waitFor('the run to be gone', async () => (await readRun(pool, run)) === null);
});

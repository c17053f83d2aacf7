// A cancel or a retry that comes while somebody else changes the job waits, and judges the job by what it is then.
import { finishJobs } from '@wfg/shared/queries/finish';
import { cancelJob } from '@wfg/shared/queries/cancel';
import { retryJob } from '@wfg/shared/queries/requeue';
import { createPool } from '@wfg/shared/db/pool';
import { isTimeLimit } from '@wfg/shared/db/sqlstate';
import type { Pool, PoolClient } from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { advance, claim, enqueue, finish, reportOf, states, submit } from '../../support/engine.ts';
import { getStuck, hold } from '../../support/locks.ts';
import { testDatabase } from '../../support/postgres.ts';

/** Cancels the job while `first` is not committed yet. */
async function cancelBehind(
  pool: Pool,
  run: string,
  job: string,
  first: (tx: PoolClient) => Promise<unknown>,
) {
  const [one, other] = [await pool.connect(), await pool.connect()];
  try {
    await one.query('begin');
    await first(one);
    const cancel = await getStuck(pool, other, () => cancelJob(other, run, job));
    await one.query('commit');
    return await cancel.done;
  } finally {
    one.release(true);
    other.release(true);
  }
}

test('what is being claimed is asked to stop', async () => {
  await using db = await testDatabase();
  const labels = [':event call'];
  const event = await enqueue(db.pool, 'call');
  const run = await submit(db.pool, { a: {} });
  const claimAll = (tx: PoolClient) => claim(tx, { labels });
  expect(await cancelBehind(db.pool, event, 'main', claimAll)).toBe('active');
  expect(await states(db.pool, event)).toEqual({ main: 'active' });
  expect(await states(db.pool, run)).toEqual({ a: 'active' });
});

test('what is being handed back is cancelled', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {} });
  const [job] = await claim(db.pool);
  if (!job) throw new Error('nothing to claim');
  const report = reportOf(job, { outcome: 'handed_back' });
  expect(await cancelBehind(db.pool, run, 'a', (tx) => finishJobs(tx, [report]))).toBe('cancelled');
  expect(await states(db.pool, run)).toEqual({ a: 'cancelled' });
});

test('what is being completed stays so', async () => {
  await using db = await testDatabase();
  const event = await enqueue(db.pool, 'call');
  const [job] = await claim(db.pool, { labels: [':event call'] });
  if (!job) throw new Error('nothing to claim');
  expect(await cancelBehind(db.pool, event, 'main', (tx) => finishJobs(tx, [reportOf(job)]))).toBe(null);
  expect(await states(db.pool, event)).toEqual({ main: 'completed' });
});

test.for([
  ['cancel', 'a', cancelJob],
  ['retry', 'bad', retryJob],
] as const)(
  'the server gives a %s up that waits too long, and it is not done later',
  async ([, job, ask]) => {
    await using db = await testDatabase();
    const run = await submit(db.pool, { a: {}, bad: {} });
    for (const claimed of await claim(db.pool))
      if (claimed.job_id === 'bad') await finish(db.pool, claimed, { outcome: 'failed', retryable: false });
    await advance(db.pool);
    const before = await states(db.pool, run);
    expect(before).toEqual({ a: 'active', bad: 'failed' });
    const pool = createPool({
      url: db.url,
      name: 'asking',
      queryTimeoutMs: 1_000,
      log: pino({ level: 'silent' }),
    });
    try {
      await using _ = await hold(db.pool, 'select from wfg_jobs where run_id = $1 for update', [run]);
      await expect(ask(pool, run, job)).rejects.toSatisfy(isTimeLimit);
    } finally {
      await pool.end();
    }
    const { rows } = await db.pool.query('select from wfg_jobs where cancel_requested_at is not null');
    expect(rows).toEqual([]);
    expect(await states(db.pool, run)).toEqual(before);
  },
);

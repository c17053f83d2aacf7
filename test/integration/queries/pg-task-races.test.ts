// pg_task, the view: statements that wait for a row which somebody else changes meanwhile.
import { claimJobs } from '@wfg/shared/queries/claim';
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import type { Pool, PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { finish } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const STEP = '{"Greeter":{"ReadName":{"filename":"name.txt"}}}';
const SHOUT = '{"Greeter":{"Shout":null}}';

let db: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  db = await testDatabase();
  pool = db.pool;
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => {
  await pool.query('delete from wfg_jobs; delete from wfg_history');
});

const rowsOf = async (sql: string) => (await pool.query<Record<string, unknown>>(sql)).rows;
const insert = (step: string) => pool.query('insert into pg_task (step) values ($1)', [step]);

/** Begins the task's step, as a worker does. */
async function begin(on: Pool | PoolClient = pool) {
  const claim = { workerId: 'w1', instance: null, limit: 1, leaseSecs: 30, nonce: '7' };
  const [job] = await claimJobs(on, { ...claim, labels: [':task Greeter'] }, new ClaimMemory());
  if (!job) throw new Error('nothing is due');
  return job;
}

/** What `waiting` answers that has to wait until `first` commits. */
async function overtaken(first: (other: PoolClient) => Promise<unknown>, waiting: string) {
  const other = await pool.connect();
  try {
    await other.query('begin');
    await first(other);
    const answer = rowsOf(waiting);
    const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await waitFor('the second to wait', async () => (await pool.query(waits)).rowCount === 1);
    await other.query('commit');
    return await answer;
  } finally {
    other.release();
  }
}

const resume = (other: PoolClient) => other.query('update pg_task set error = null');
const stop = async () => finish(pool, await begin(), { outcome: 'failed', error: 'no', retryable: false });

test.for([
  ['waits', false],
  ['runs', true],
] as const)('an error that somebody else has cleared is left so: the task %s', async ([, runs]) => {
  await insert(STEP);
  await stop();
  const clear = async (other: PoolClient) => {
    await resume(other);
    if (runs) await begin(other);
  };
  expect(await overtaken(clear, 'update pg_task set error = null returning *')).toEqual([]);
  expect(await rowsOf('select error, is_running from pg_task')).toEqual([{ error: null, is_running: runs }]);
});

test.for([
  `delete from pg_task where error is not null returning *`,
  `update pg_task set step = '${SHOUT}' where error is not null returning *`,
  `update pg_task set wakeup_at = now() + interval '1 day' where error is not null returning *`,
  `update pg_task set error = 'for Monday' where error is not null returning *`,
])('what somebody has resumed meanwhile is left alone by %s', async (statement) => {
  await insert(STEP);
  await stop();
  expect(await overtaken(resume, statement)).toEqual([]);
  expect(await rowsOf('table pg_task')).toMatchObject([{ step: STEP, error: null, is_running: false }]);
  expect(await begin()).toMatchObject({ step: 'ReadName' });
});

test('what somebody mends is not discarded by one who saw it broken', async () => {
  await insert(STEP);
  await stop();
  const mend = (other: PoolClient) => other.query('update pg_task set step = $1', [SHOUT]);
  expect(await overtaken(mend, 'delete from pg_task where error is not null returning *')).toEqual([]);
  expect(await rowsOf('table pg_task')).toMatchObject([{ step: SHOUT, error: 'no' }]);
});

const goOn = async (other: PoolClient) => {
  const next = { step: 'Shout', payload: { Greeter: { Shout: null } }, delay_secs: 0, at: null };
  await finish(other, await begin(), { next });
};

test.for([
  `update pg_task set step = '{"Greeter":{"ReadName":{"filename":"b"}}}' where step = '${STEP}' returning *`,
  `update pg_task set error = 'for Monday' where step = '${STEP}' returning *`,
  `update pg_task set wakeup_at = now() + interval '1 day' where step = '${STEP}' returning *`,
])('what has gone on to its next step meanwhile is left alone by %s', async (statement) => {
  await insert(STEP);
  expect(await overtaken(goOn, statement)).toEqual([]);
  expect(await rowsOf('table pg_task')).toMatchObject([{ step: SHOUT, error: null }]);
  expect(await begin()).toMatchObject({ step: 'Shout' });
});

const park = (other: PoolClient) => other.query(`update pg_task set error = 'for Monday'`);

test('a cancel means the task, also when it has gone on meanwhile, but not one that stopped', async () => {
  await insert(STEP);
  expect(await overtaken(goOn, 'delete from pg_task returning *')).toHaveLength(1);
  expect(await rowsOf('table pg_task')).toEqual([]);
  await insert(STEP);
  expect(await overtaken(park, 'delete from pg_task returning *')).toEqual([]);
  expect(await rowsOf('table pg_task')).toMatchObject([{ error: 'for Monday' }]);
});

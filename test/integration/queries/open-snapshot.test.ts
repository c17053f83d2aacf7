// While a transaction stays open nothing dead can be removed: what claims jobs and what reports on them passes it by.
import { leaseId } from '@wfg/shared/contract/lease';
import type { Queryable } from '@wfg/shared/db/pool';
import type { ClaimedJob } from '@wfg/shared/queries/claim';
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { finishJobs } from '@wfg/shared/queries/finish';
import { renewForeign } from '@wfg/shared/queries/foreign-leases';
import { readLeased } from '@wfg/shared/queries/leased';
import { renewLeases } from '@wfg/shared/queries/leases';
import { appendLogs } from '@wfg/shared/queries/logs';
import { surrenderLeases } from '@wfg/shared/queries/reap';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { claim, reportOf } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

const ENDED = 3_000;
const BATCH = 500;
const LABELS = ['a'];

const memory = new ClaimMemory();
let db: TestDatabase;
let client: PoolClient;
let other: PoolClient;
let jobs: ClaimedJob[];

beforeAll(async () => {
  // What was remembered is not forgotten meanwhile.
  let looks = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => ++looks);
  db = await testDatabase();
  client = await db.pool.connect();
  other = await db.pool.connect();
  await client.query(
    `insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, run_at)
     select wfg_uuid7(), 0, 'main', 't', 't', 'pending', 'event', $2, now() - interval '1 hour' + g * interval '1 us'
     from generate_series(1, $1::int) g`,
    [ENDED + BATCH, LABELS],
  );
  await client.query('vacuum analyze wfg_jobs');
  await other.query('begin isolation level repeatable read; select from wfg_jobs limit 1');
  for (let ended = 0; ended < ENDED; ended += BATCH) {
    const claimed = await claim(client, { limit: BATCH, labels: LABELS });
    const results = claimed.map((job) => reportOf(job));
    await finishJobs(client, results);
  }
  // The planner is to believe that as good as nothing is pending or active.
  await client.query('analyze wfg_jobs');
  jobs = await claim(client, { limit: 10, labels: LABELS, memory });
});

afterAll(async () => {
  vi.restoreAllMocks();
  client.release();
  await other.query('rollback');
  other.release();
  await db[Symbol.asyncDispose]();
});

const oneJob = () => {
  const job = jobs.pop();
  if (!job) throw new Error('all are used');
  return job;
};

test('a claim that nothing is remembered for passes all of it', async () => {
  expect(await entriesRead((on) => claim(on, { limit: 1, labels: LABELS }))).toBeGreaterThan(ENDED);
});

test.each<[string, (on: Queryable) => Promise<unknown>]>([
  ['claim', (on) => claim(on, { limit: 1, labels: LABELS, memory })],
  ['renewal', (on) => renewLeases(on, [oneJob()])],
  ['renewal over HTTP', (on) => renewForeign(on, oneJob())],
  ['look at what was claimed with a key', (on) => readLeased(on, leaseId(oneJob()))],
  ['chunk of a log', (on) => appendLogs(on, [chunkOf(oneJob())])],
  ['result', (on) => finishJobs(on, [reportOf(oneJob())])],
  ['surrender', (on) => surrenderLeases(on, [{ ...oneJob(), error: null }], 'gone')],
])('a %s passes none of it', async (_, act) => {
  expect(await entriesRead(act)).toBeLessThan(ENDED / 30);
});

function chunkOf(job: ClaimedJob) {
  const at = new Date(0);
  const row = { sequence: 0, line: 1, lines: 1, bytes: 2, at, stream: 'stdout' as const, data: 'a\n' };
  return { lease: job, day: job.started_at.toISOString().slice(0, 10), rows: [row] };
}

/** How many entries of the indexes of wfg_jobs it read. */
async function entriesRead(act: (on: Queryable) => Promise<unknown>): Promise<number> {
  const before = await entries();
  await act(client);
  return (await entries()) - before;
}

async function entries(): Promise<number> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query<{ entries: number }>(
    `select sum(idx_tup_read)::int as entries from pg_stat_user_indexes where relname = 'wfg_jobs'`,
  );
  return rows[0]?.entries ?? Number.NaN;
}

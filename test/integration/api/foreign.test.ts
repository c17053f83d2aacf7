// Workers over HTTP: claims, leases and results, as workflow-graph's workers see them.
import { Claimed } from '@wfg/shared/contract/queued-job';
import { reapExpired } from '@wfg/shared/queries/reap';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { advance, moveClock } from '../../support/engine.ts';
import { claimedHttp, claimHttp, tell } from '../../support/foreign.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url);
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await moveClock(db.pool, '0');
  await db.pool.query(
    'truncate wfg_runs, wfg_jobs, wfg_history, wfg_attempts, wfg_logs, wfg_workflows, wfg_workers',
  );
});

/** Stores workflow `w` of workflow-graph's own jobs and starts it. */
async function start(jobs: Record<string, unknown>[]): Promise<string> {
  const whole = jobs.map((job) => ({ name: String(job.id), command: 'true', depends_on: [], ...job }));
  await api.ask('PUT', '/api/workflows/w', { name: 'w', trigger: 'push', jobs: whole });
  return Object((await api.ask('POST', '/api/workflows/w/run')).body).run_id;
}

async function job(id: string): Promise<Record<string, unknown>> {
  const { body } = await api.ask('GET', '/api/workflows/w/status');
  return Object(body).jobs.find((one: { id: string }) => one.id === id);
}

test('a claim has the job and a lease, whole', async () => {
  const run = await start([{ id: 'a', command: 'echo "a"', required_labels: ['gpu'], max_retries: 2 }]);
  const claimed = await claimedHttp(api, { labels: ['linux', 'gpu'] });
  expect(claimed).toEqual({
    job: {
      job_id: 'a',
      workflow_id: 'w',
      command: 'echo "a"',
      required_labels: ['gpu'],
      retry_policy: { max_retries: 2, backoff: 'None' },
      attempt: 0,
      upstream_outputs: {},
      enqueued_at_ms: expect.any(Number),
      delayed_until_ms: 0,
      run_id: run,
      kind: 'command',
      workflow_type: null,
      payload: null,
      try: 1,
      timeout_secs: null,
    },
    lease: {
      lease_id: expect.stringMatching(new RegExp(`^${run}-1\\.0\\.\\d+$`)),
      job_id: 'a',
      workflow_id: 'w',
      worker_id: 'f1',
      ttl_secs: 30,
      granted_at_ms: expect.any(Number),
    },
  });
  expect(Claimed.parse(claimed)).toEqual(claimed);
  expect(await claimHttp(api, { labels: ['gpu'] })).toBeNull();
});

test('a run of no stored workflow goes by its own id', async () => {
  const { body } = await api.ask('POST', '/api/runs', { name: 'inline', jobs: { a: { run: 'true' } } });
  const { run_id } = Object(body);
  const claimed = await claimedHttp(api);
  expect(claimed).toMatchObject({ job: { workflow_id: run_id }, lease: { workflow_id: run_id } });
  await api.ask('POST', `/api/runs/${run_id}/cancel`);
  expect((await api.ask('GET', `/api/jobs/${run_id}/a/cancelled`)).body).toBe(true);
});

test('a result is taken once, and may be repeated', async () => {
  await start([{ id: 'a' }, { id: 'b', depends_on: ['a'] }, { id: 'c', depends_on: ['a'] }]);
  const a = await claimedHttp(api);
  expect(await tell(api, a, 'complete', { outputs: { version: '1.2' } })).toEqual({
    status: 200,
    body: { state: 'completed' },
  });
  expect(await tell(api, a, 'complete', { outputs: { version: '9' } })).toMatchObject({ status: 200 });
  await advance(db.pool);
  const b = await claimedHttp(api);
  expect(b.job).toMatchObject({ job_id: 'b', upstream_outputs: { a: { version: '1.2' } } });
  expect(await tell(api, a, 'heartbeat')).toMatchObject({ status: 409, body: { code: 'lease_lost' } });
});

test('what failed for good stays failed, what may be retried comes again', async () => {
  await start([{ id: 'a', max_retries: 1 }]);
  const first = await claimedHttp(api);
  const failed = { error: 'exit code 3: no', retryable: true };
  expect((await tell(api, first, 'fail', failed)).body).toEqual({ state: 'pending' });
  expect((await tell(api, first, 'fail', failed)).body).toEqual({ state: 'pending' });
  const second = await claimedHttp(api);
  expect(second.job).toMatchObject({ attempt: 1, try: 2 });
  expect(await job('a')).toMatchObject({ status: 'running', attempt: 1 });
  expect((await tell(api, first, 'fail', failed)).body).toEqual({ state: 'pending' });
  expect((await tell(api, second, 'fail', failed)).body).toEqual({ state: 'failed' });
  await advance(db.pool);
  expect(await job('a')).toMatchObject({ status: 'failure', output: 'exit code 3: no' });
  expect((await tell(api, second, 'fail', failed)).body).toEqual({ state: 'failed' });
});

test('a lease is renewed by the time it was claimed with, not after it has expired', async () => {
  await start([{ id: 'a', max_retries: 1 }]);
  const claimed = await claimedHttp(api, { lease_ttl_secs: 5 });
  for (const secs of [4, 8, 12]) {
    await moveClock(db.pool, `${secs} s`);
    expect(await tell(api, claimed, 'heartbeat')).toEqual({ status: 200, body: { cancelled: false } });
    expect(await reapExpired(db.pool, 10)).toEqual([]);
  }
  await moveClock(db.pool, '18 s');
  expect(await tell(api, claimed, 'heartbeat')).toMatchObject({ status: 409 });
  expect(await tell(api, claimed, 'complete')).toMatchObject({ status: 200 });
});

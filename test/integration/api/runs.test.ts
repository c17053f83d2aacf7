import type { RequestOf } from '@wfg/shared/contract/routes/route-types';
import { getRun, listRuns, submitRun } from '@wfg/shared/contract/routes/runs';
import { startRun } from '@wfg/shared/contract/routes/workflow-runs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { advance, claim, finish } from '../../support/engine.ts';
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
  await db.pool.query('truncate wfg_runs, wfg_jobs, wfg_history, wfg_attempts, wfg_workflows cascade');
  const jobs = { a: { run: 'true', labels: ['gpu'] }, b: { run: 'true', needs: 'a', retries: 1 } };
  await api.ask('PUT', '/api/workflows/w', { name: 'w', env: { X: '1', Y: '1' }, jobs });
});

async function start(body?: { env: Record<string, string> }): Promise<string> {
  return (await api.wfg(startRun, { params: { id: 'w' }, body })).run_id;
}

const show = (run: string) => api.wfg(getRun, { params: { run } });

const gpu = { labels: ['gpu'] };

test('a new run is pending, and says what its jobs wait for', async () => {
  const run = await start();
  expect(await show(run)).toMatchObject({
    run_id: run,
    workflow_id: 'w',
    workflow_type: null,
    number: null,
    status: 'pending',
    started_at: null,
    jobs: [
      {
        job_id: 'a',
        state: 'pending',
        required_labels: ['gpu'],
        attempt: 0,
        tries: 0,
        waiting: { reason: 'no_worker', detail: 'no live worker offers label gpu' },
      },
      { job_id: 'b', state: 'blocked', max_attempts: 2, waiting: { reason: 'dependencies', on: ['a'] } },
    ],
  });
});

test('a run is seen from its first move to its end, with a rev that only grows', async () => {
  const run = await start();
  const revs: number[] = [];
  const see = async () => {
    const seen = await show(run);
    revs.push(seen.rev);
    return seen;
  };
  await advance(db.pool);
  expect(await see()).toMatchObject({ number: 1, status: 'pending' });
  const [a] = await claim(db.pool, gpu);
  expect(await see()).toMatchObject({ status: 'running', started_at: a?.started_at.toISOString() });
  if (a) await finish(db.pool, a, { outputs: { version: '1.0' } });
  await advance(db.pool);
  const [b] = await claim(db.pool);
  if (b) await finish(db.pool, b, { outcome: 'failed', error: 'exit code 1: no', exit_code: 1 });
  expect(await see()).toMatchObject({ jobs: [{ state: 'completed' }, { state: 'pending', tries: 1 }] });
  const [again] = await claim(db.pool);
  if (again) await finish(db.pool, again, { outcome: 'failed', error: 'exit code 2: no', exit_code: 2 });
  await advance(db.pool);
  const ended = await see();
  expect(ended).toMatchObject({
    status: 'failed',
    finished_at: expect.any(String),
    jobs: [
      { state: 'completed', error: null },
      { state: 'failed', error: 'exit code 2: no', attempt: 1, tries: 2 },
    ],
  });
  expect(revs).toEqual([...new Set(revs)].sort((a, b) => a - b));

  const job = await api.ask('GET', `/api/runs/${run}/jobs/a`);
  expect(job.body).toEqual({ ...ended.jobs[0], outputs: { version: '1.0' } });
  expect((await api.ask('GET', `/api/runs/${run}/jobs/a/outputs`)).body).toEqual({ version: '1.0' });
  const attempts = await api.ask('GET', `/api/runs/${run}/jobs/b/attempts`);
  expect(attempts.body).toMatchObject([
    { attempt: 0, try: 1, worker_id: 'w1', outcome: 'failed', error: 'exit code 1: no', exit_code: 1 },
    { attempt: 1, try: 2, worker_id: 'w1', outcome: 'failed', error: 'exit code 2: no', exit_code: 2 },
  ]);
  const graph = await api.ask('GET', '/api/workflows/w/status');
  expect(graph.body).toMatchObject({
    jobs: [
      { status: 'success', duration_secs: 0, output: null, started_at: a?.started_at.getTime() },
      { status: 'failure', output: 'exit code 2: no', attempt: 1 },
    ],
  });
  expect((await api.ask('GET', '/api/workflows?status=failure')).body).toHaveLength(1);
});

test('while a run goes on it is answered; while it is being cancelled a new one is started', async () => {
  const first = await start();
  expect(await start()).toBe(first);
  const [a] = await claim(db.pool, gpu);
  expect((await api.ask('POST', `/api/runs/${first}/cancel`, {})).status).toBe(202);
  expect(await show(first)).toMatchObject({
    status: 'cancelling',
    jobs: [{ cancelling: true }, { state: 'cancelled' }],
  });
  const second = await start();
  expect(second).not.toBe(first);
  expect(await start()).toBe(second);
  if (a) await finish(db.pool, a, { outcome: 'cancelled' });
  await advance(db.pool);
  expect(await show(first)).toMatchObject({ status: 'cancelled' });
});

test('of many starts at once one makes a run', async () => {
  const runs = await Promise.all(Array.from({ length: 12 }, () => start()));
  expect(new Set(runs).size).toBe(1);
});

test('`env` of a start goes over the file’s', async () => {
  await start({ env: { Y: '2' } });
  const [a] = await claim(db.pool, gpu);
  expect(a?.run_env).toEqual({ X: '1', Y: '2' });
});

test('after a cancel no claim returns a job of the workflow', async () => {
  const run = await start();
  expect((await api.ask('POST', '/api/workflows/w/cancel')).status).toBe(202);
  expect(await claim(db.pool, gpu)).toEqual([]);
  await advance(db.pool);
  expect(await show(run)).toMatchObject({
    status: 'cancelled',
    jobs: [{ state: 'cancelled' }, { state: 'cancelled' }],
  });
  expect((await api.ask('POST', '/api/workflows/w/cancel')).status).toBe(202);
  expect((await api.ask('POST', `/api/runs/${run}/cancel`)).status).toBe(202);
  expect((await api.ask('POST', '/api/workflows/unknown/cancel')).status).toBe(404);
});

test('a run that has completed cannot be cancelled', async () => {
  const { run_id: run } = await api.wfg(submitRun, { body: { name: 'none', jobs: {} } });
  await advance(db.pool);
  expect(await show(run)).toMatchObject({ status: 'completed', number: null, jobs: [] });
  expect(await api.ask('POST', `/api/runs/${run}/cancel`)).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  });
});

test('a workflow in the body is started at once and not stored', async () => {
  const workflow = { name: 'inline', jobs: { only: { run: 'true' } } };
  const { status, headers, body } = await api.ask('POST', '/api/runs', workflow);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    workflow_id: null,
    name: 'inline',
    jobs: [{ job_id: 'only', state: 'pending' }],
  });
  expect((await api.ask('GET', headers.get('location') ?? '')).body).toEqual(body);
  expect((await api.ask('GET', '/api/workflows')).body).toHaveLength(1);
});

test('a removed definition leaves its runs', async () => {
  const run = await start();
  await api.ask('DELETE', '/api/workflows/w');
  expect(await show(run)).toMatchObject({ workflow_id: 'w' });
  expect((await api.ask('GET', '/api/workflows/w/runs')).body).toMatchObject({ items: [{ run_id: run }] });
  expect((await api.ask('POST', '/api/workflows/w/cancel')).status).toBe(202);
  expect(await show(run)).toMatchObject({ jobs: [{ state: 'cancelled' }, { state: 'cancelled' }] });
});

test('runs are listed newest first, filtered, in stable pages', async () => {
  const runs: string[] = [];
  for (let n = 0; n < 5; n++) {
    const body = { name: `n${n}`, jobs: { a: { run: 'true' } } };
    runs.unshift((await api.wfg(submitRun, { body })).run_id);
  }
  const own = await start();
  const { items, next } = await api.wfg(listRuns, { query: { limit: 3 } });
  expect(items.map(({ run_id }) => run_id)).toEqual([own, ...runs.slice(0, 2)]);
  expect(items[0]).not.toHaveProperty('jobs');
  await api.ask('POST', '/api/runs', { name: 'later', jobs: {} });
  expect(await api.wfg(listRuns, { query: { limit: 3, cursor: next ?? '' } })).toMatchObject({
    items: runs.slice(2).map((run_id) => ({ run_id })),
    next: null,
  });

  await claim(db.pool, { limit: 1 });
  const ids = async (query: RequestOf<typeof listRuns>['query']) =>
    (await api.wfg(listRuns, { query })).items.map(({ run_id }) => run_id);
  expect(await ids({ status: 'running' })).toEqual([runs.at(-1)]);
  expect(await ids({ workflow_id: 'w' })).toEqual([own]);
  expect(await ids({ status: 'completed' })).toEqual([]);
  const { created_at } = await show(own);
  expect(await ids({ since: created_at })).toContain(own);
  expect(await ids({ until: created_at })).not.toContain(own);
});

test('runs are found by what a job of them requires, live and ended', async () => {
  const ended = await start();
  const [a] = await claim(db.pool, gpu);
  if (a) await finish(db.pool, a, { outcome: 'failed', retryable: false });
  await advance(db.pool);
  const live = await start();
  await api.ask('POST', '/api/runs', { name: 'other', jobs: { a: { run: 'true', labels: ['gpus'] } } });
  const ids = async (query: string) => {
    const { status, body } = await api.ask('GET', `/api/runs?${query}`);
    expect(status).toBe(200);
    return Object(body).items.map((run: { run_id: string }) => run.run_id);
  };
  expect(await ids('label=gpu')).toEqual([live, ended]);
  expect(await ids('label=gpu&status=failed')).toEqual([ended]);
  expect(await ids('label=none')).toEqual([]);
  expect(await ids('workflow_type=user.created')).toEqual([]);
  await db.pool.query(
    `update wfg_jobs set kind = 'event', workflow_type = 'user.created' where run_id = $1 and job_id = 'b'`,
    [live],
  );
  expect(await ids('workflow_type=user.created')).toEqual([live]);
});

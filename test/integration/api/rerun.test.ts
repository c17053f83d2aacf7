// Running again over HTTP: a rerun of what has ended, a retry in what goes on.
import { getRun } from '@wfg/shared/contract/routes/runs';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

/** A run of a workflow in which `a` completed and `b` failed; `slow`, if it has one, goes on. */
async function failedRun(id: string, more: Record<string, object> = {}): Promise<string> {
  const jobs = { a: { run: 'true' }, b: { run: 'false' }, c: { run: 'true', needs: ['a', 'b'] }, ...more };
  await api.ask('PUT', `/api/workflows/${id}`, { name: id, jobs });
  const { body } = await api.ask('POST', `/api/workflows/${id}/run`, {});
  const { run_id } = Object(body);
  for (const job of await claim(db.pool)) {
    if (job.job_id === 'b') await finish(db.pool, job, { outcome: 'failed', retryable: false, error: 'no' });
    if (job.job_id === 'a') await finish(db.pool, job, { outputs: { v: '1' } });
  }
  await advance(db.pool);
  return String(run_id);
}

test('a rerun is a run of its own, made once by its key', async () => {
  const run = await failedRun('w');
  const key = { 'idempotency-key': 'again' };
  const made = await api.ask('POST', `/api/runs/${run}/rerun`, { from: 'failed' }, key);
  expect(made).toMatchObject({
    status: 201,
    body: {
      workflow_id: 'w',
      rerun_of: run,
      jobs: [
        { job_id: 'a', state: 'completed', reused_from: run, error: null, worker_id: 'w1' },
        { job_id: 'b', state: 'pending', reused_from: null, attempt: 0, tries: 0 },
        { job_id: 'c', state: 'blocked', waiting: { reason: 'dependencies', on: ['b'] } },
      ],
    },
  });
  const { run_id } = Object(made.body);
  expect(made.headers.get('location')).toBe(`/api/runs/${run_id}`);
  const again = await api.ask('POST', `/api/runs/${run}/rerun`, { from: 'failed' }, key);
  expect(again).toMatchObject({ status: 201, body: { run_id } });
  expect(await api.ask('POST', `/api/runs/${run}/rerun`, { from: 'b' }, key)).toMatchObject({ status: 422 });
  await advance(db.pool);
  expect(await api.wfg(getRun, { params: { run: run_id } })).toMatchObject({ number: 2 });
  expect(await api.ask('GET', `/api/runs/${run_id}/jobs/a/outputs`)).toMatchObject({ body: { v: '1' } });
  expect(await api.ask('GET', `/api/runs/${run_id}/jobs/a/attempts`)).toMatchObject({
    status: 200,
    body: [],
  });
  expect(await api.ask('POST', `/api/runs/${run_id}/rerun`)).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  });
  expect(await api.ask('POST', `/api/runs/${run}/rerun`, { form: 'b' })).toMatchObject({ status: 422 });
  expect(await api.ask('POST', `/api/runs/${run}/rerun`, { from: 'x' })).toMatchObject({ status: 404 });
});

test('a retry gives a job of a run that goes on back; of one that has ended it names the rerun', async () => {
  const run = await failedRun('other', { slow: { run: 'true', labels: ['gpu'] } });
  const retry = (job: string) => api.ask('POST', `/api/runs/${run}/jobs/${job}/retry`);
  expect(await retry('a')).toMatchObject({ status: 409, body: { code: 'conflict' } });
  expect(await retry('x')).toMatchObject({ status: 404 });
  expect(await retry('b')).toMatchObject({ status: 202, body: '' });
  await advance(db.pool);
  const shown = await api.wfg(getRun, { params: { run } });
  expect(shown.jobs).toMatchObject([{}, { state: 'pending' }, { state: 'blocked' }, { state: 'pending' }]);
  await api.ask('POST', `/api/runs/${run}/cancel`);
  await advance(db.pool);
  expect(await retry('b')).toMatchObject({
    status: 409,
    body: { detail: expect.stringMatching(/rerun it: POST \/api\/runs/) },
  });
});

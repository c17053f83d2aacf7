// Starting workflows, once and again: rows 8 to 13.
import { WorkflowView } from '@wfg/shared/contract/workflow';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startWalk, type Walk } from '../../support/graph-user.ts';
import { waitFor } from '../../support/wait-for.ts';

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk({ counts: { reaper: 0, worker: 0 } });
});

afterAll(() => walk[Symbol.asyncDispose]());
afterEach(() => walk.leave());

const runStatus = async (run: string) => Object((await walk.ask('GET', `/api/runs/${run}`)).body).status;

test('8: a run is answered with 202, and 404 when there is no such workflow', async () => {
  const id = await walk.create({ id: 'a' });
  const started = await walk.ask('POST', `/api/workflows/${id}/run`);
  expect(started).toMatchObject({ status: 202, body: { run_id: expect.any(String) } });
  const { run_id } = Object(started.body);
  expect(await walk.ask('GET', `/api/runs/${run_id}`)).toMatchObject({ body: { workflow_id: id } });
  expect(await walk.ask('POST', '/api/workflows/none/run')).toMatchObject({
    status: 404,
    body: { code: 'not_found' },
  });
});

test('8: the environment of a run goes before the workflow’s, and is in its commands', async () => {
  const id = await walk.put(
    'envs',
    'name: n\nenv: { X: file, Y: file }\njobs: { a: { run: true } }\n'.replace('true', "'echo'"),
  );
  const { status } = await walk.ask('POST', `/api/workflows/${id}/run`, { env: { X: "it's" } });
  expect(status).toBe(202);
  const { command } = (await walk.claimed()).job;
  expect(command).toContain(`export X='it'\\''s'`);
  expect(command).toContain(`export Y='file'`);
  expect(await walk.ask('POST', `/api/workflows/${id}/run`, { env: { X: 1 } })).toMatchObject({
    status: 422,
  });
});

test('9: run while it runs changes nothing', async () => {
  const { id, run } = await walk.start({ id: 'a' }, { id: 'b' });
  const a = await walk.claimed();
  const before = await walk.jobs(id);
  expect(before).toMatchObject({ a: { status: 'running' }, b: { status: 'queued' } });
  expect(await walk.run(id)).toBe(run);
  expect(await walk.jobs(id)).toEqual(before);
  expect((await walk.claimed()).job.job_id).toBe('b');
  expect(await walk.claim()).toBeNull();
  expect((await walk.tell(a, 'complete')).status).toBe(200);
});

test('10: run twice while it is queued, or twenty times at once, gives each root once', async () => {
  const id = await walk.create({ id: 'a' }, { id: 'b' });
  const runs = await Promise.all(Array.from({ length: 20 }, () => walk.run(id)));
  expect(new Set(runs).size).toBe(1);
  expect([(await walk.claimed()).job.job_id, (await walk.claimed()).job.job_id]).toEqual(['a', 'b']);
  expect(await walk.claim()).toBeNull();
});

test('11: a re-run resets states, times and errors, and the first run keeps its own', async () => {
  const { id, run } = await walk.start({ id: 'a' }, { id: 'b' }, { id: 'c', depends_on: ['b'] });
  await walk.tell(await walk.claimed(), 'complete', { outputs: { x: '1' } });
  await walk.tell(await walk.claimed(), 'fail', { error: 'exit code 3: no' });
  await waitFor('the run to end', async () => (await runStatus(run)) === 'failed');
  expect(await walk.jobs(id)).toMatchObject({
    a: { status: 'success', duration_secs: expect.any(Number), started_at: expect.any(Number), output: null },
    b: { status: 'failure', duration_secs: expect.any(Number), output: 'exit code 3: no' },
    c: { status: 'skipped', duration_secs: null, started_at: null },
  });
  const again = await walk.run(id);
  expect(again).not.toBe(run);
  const fresh = { status: 'queued', duration_secs: null, started_at: null, output: null, attempt: 0 };
  expect(await walk.jobs(id)).toMatchObject({ a: fresh, b: fresh, c: fresh });
  expect((await walk.ask('GET', `/api/runs/${run}/jobs/a/outputs`)).body).toEqual({ x: '1' });
  expect((await walk.ask('GET', `/api/runs/${again}/jobs/a/outputs`)).body).toEqual({});
  expect((await walk.ask('GET', `/api/workflows/${id}/runs`)).body).toMatchObject({
    items: [
      { run_id: again, number: 2 },
      { run_id: run, number: 1, status: 'failed' },
    ],
  });
});

test('11: what has ended can be run again at once', async () => {
  const { id, run } = await walk.start({ id: 'a' });
  for (let round = 0, last = run; round < 5; round++) {
    expect((await walk.tell(await walk.claimed(), 'complete')).status).toBe(200);
    expect(await walk.statuses(id)).toEqual({ a: 'success' });
    const next = await walk.run(id);
    expect(next).not.toBe(last);
    last = next;
  }
});

test('12: after a cancel a re-run works, and knows nothing of the cancel', async () => {
  const { id } = await walk.start({ id: 'a' });
  expect((await walk.ask('POST', `/api/workflows/${id}/cancel`)).status).toBe(202);
  expect(await walk.statuses(id)).toEqual({ a: 'cancelled' });
  await walk.run(id);
  const claimed = await walk.claimed();
  expect((await walk.ask('GET', `/api/jobs/${id}/a/cancelled`)).body).toBe(false);
  expect((await walk.tell(claimed, 'heartbeat')).body).toEqual({ cancelled: false });
  expect((await walk.tell(claimed, 'complete')).body).toEqual({ state: 'completed' });
  expect(await walk.statuses(id)).toEqual({ a: 'success' });
});

test('12: while a run is being cancelled the next one starts beside it', async () => {
  const { id, run } = await walk.start({ id: 'a' }, { id: 'b', depends_on: ['a'] });
  const old = await walk.claimed();
  await walk.ask('POST', `/api/workflows/${id}/cancel`);
  expect(await runStatus(run)).toBe('cancelling');
  const next = await walk.run(id);
  expect(next).not.toBe(run);
  expect(await walk.run(id)).toBe(next);
  const own = await walk.claimed();
  expect(own.job).toMatchObject({ run_id: next, job_id: 'a', attempt: 0 });
  expect((await walk.tell(old, 'fail', { error: 'cancelled', retryable: true })).body).toEqual({
    state: 'cancelled',
  });
  expect((await walk.tell(own, 'complete')).body).toEqual({ state: 'completed' });
  expect((await walk.claimed()).job).toMatchObject({ run_id: next, job_id: 'b' });
  await waitFor('the old run to end', async () => (await runStatus(run)) === 'cancelled');
});

test('13: the sample can be loaded, also over one that runs', async () => {
  const load = () => walk.ask('POST', '/api/workflows/sample');
  const { status, body } = await load();
  expect(status).toBe(201);
  const { id, name, trigger, jobs } = WorkflowView.parse(body);
  expect({ id, name, trigger }).toEqual({ id: 'ci-1', name: 'ci.yml', trigger: 'on: push' });
  expect(Object.fromEntries(jobs.map((job) => [job.id, job.depends_on]))).toEqual({
    'unit-tests': [],
    lint: [],
    typecheck: [],
    build: ['unit-tests', 'lint', 'typecheck'],
    'deploy-db': ['build'],
    'e2e-tests': ['build'],
    'deploy-preview': ['build'],
    'deploy-web': ['deploy-db'],
  });
  const run = await walk.run('ci-1');
  const claimed = await walk.claimed();
  expect(await load()).toMatchObject({ status: 201, body: { jobs: { 0: { status: 'running' } } } });
  expect((await walk.tell(claimed, 'complete')).status).toBe(200);
  expect((await walk.ask('POST', `/api/runs/${run}/cancel`)).status).toBe(202);
  expect(await walk.claim()).toBeNull();
});

// What jobs hand on to those that need them: rows 41 to 44.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startWalk, type Walk } from '../../support/graph-user.ts';

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk({ counts: { reaper: 0, worker: 0 } });
});

afterAll(() => walk[Symbol.asyncDispose]());
afterEach(() => walk.leave());

/** Claims the next job, completes it with these outputs, and returns what it was given. */
async function complete(outputs: Record<string, unknown>): Promise<Record<string, unknown>> {
  const claimed = await walk.claimed();
  const report = await walk.tell(claimed, 'complete', { outputs });
  expect(report).toMatchObject({ status: 200, body: { state: 'completed' } });
  return claimed.job.upstream_outputs;
}

test('41: a job is given the outputs of those that it needs itself, and of no others', async () => {
  await walk.start(
    { id: 'build' },
    { id: 'lint' },
    { id: 'test', depends_on: ['build'] },
    { id: 'deploy', depends_on: ['test', 'lint'] },
  );
  expect(await complete({ version: '1.2', tag: 'v1.2' })).toEqual({});
  expect(await complete({ findings: '0' })).toEqual({});
  expect(await complete({ passed: '42' })).toEqual({ build: { version: '1.2', tag: 'v1.2' } });
  expect(await complete({})).toEqual({ test: { passed: '42' }, lint: { findings: '0' } });
});

test('41: a retry is given them again, and a later run its own', async () => {
  const { id } = await walk.start({ id: 'a' }, { id: 'b', depends_on: ['a'], max_retries: 1 });
  await complete({ x: '1' });
  await walk.tell(await walk.claimed(), 'fail', { error: 'no', retryable: true });
  expect(await complete({})).toEqual({ a: { x: '1' } });
  await walk.run(id);
  await complete({ y: '2' });
  expect(await complete({})).toEqual({ a: { y: '2' } });
});

test('42: of a job without outputs the key is there, and empty', async () => {
  await walk.start({ id: 'a' }, { id: 'b' }, { id: 'c', depends_on: ['a', 'b'] });
  await complete({});
  expect(await walk.tell(await walk.claimed(), 'complete')).toMatchObject({ status: 200 });
  expect(await complete({})).toEqual({ a: {}, b: {} });
});

test('43: large outputs arrive, and those that are too large are refused', async () => {
  const { run } = await walk.start({ id: 'a' }, { id: 'b', depends_on: ['a'] });
  const claimed = await walk.claimed();
  const tooLarge = await walk.tell(claimed, 'complete', { outputs: { big: 'x'.repeat(1_100_000) } });
  expect(tooLarge).toMatchObject({ status: 422, body: { code: 'invalid_body' } });
  expect(await walk.tell(claimed, 'complete', { outputs: { n: 1 } })).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'outputs.n' }] },
  });
  const outputs = { big: 'ä'.repeat(50_000), bigger: 'x'.repeat(900_000) };
  expect((await walk.tell(claimed, 'complete', { outputs })).status).toBe(200);
  expect(await complete({})).toEqual({ a: outputs });
  expect((await walk.ask('GET', `/api/runs/${run}/jobs/a/outputs`)).body).toEqual(outputs);
});

test('44: what PostgreSQL cannot store is made visible, and stops nothing', async () => {
  const { id } = await walk.start({ id: 'a', max_retries: 1 }, { id: 'b', depends_on: ['a'] });
  const first = await walk.claimed();
  const chunk = { workflow_id: id, job_id: 'a', sequence: 0, timestamp_ms: 1, stream: 'stdout' };
  expect((await walk.tell(first, 'logs', { chunks: [{ ...chunk, data: 'a\0b\n' }] })).status).toBe(200);
  expect((await walk.ask('GET', `/api/workflows/${id}/jobs/a/logs`)).body).toMatchObject([{ data: 'a␀b\n' }]);
  await walk.tell(first, 'fail', { error: 'no\0\ud800', retryable: true });
  await complete({ 'k\0': 'a\0b', lone: '\ud800' });
  expect(await complete({})).toEqual({ a: { 'k␀': 'a␀b', lone: '\ufffd' } });
  const attempts = await walk.ask('GET', `/api/runs/${first.job.run_id}/jobs/a/attempts`);
  expect(attempts.body).toMatchObject([{ error: 'no␀\ufffd' }, { error: null }]);
});

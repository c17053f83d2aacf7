import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { getOutputs, getRawLog } from '../contract/routes/jobs.ts';
import { cancelRun, getRun, listRuns, submitRun } from '../contract/routes/runs.ts';
import { RUN_ID, runOf } from '../contract/run.fixture.ts';
import { answering } from './answering.fixture.ts';
import { createClient } from './client.ts';
import { ForeignAnswerError, UnreachableError, WfgApiError } from './errors.ts';

const params = { run: RUN_ID, job: 'a' };
const run = JSON.stringify(runOf({}));

/** A client of a server that answers this, and what it was asked. */
async function clientOf(status: number, body: string, headers: Record<string, string> = {}) {
  const asked: { request: IncomingMessage; body: string }[] = [];
  const url = await answering((request, response, sent) => {
    asked.push({ request, body: sent });
    response.writeHead(status, headers).end(body);
  });
  return { url, wfg: createClient({ url, token: 'secret' }), asked };
}

test('a call asks what the route says', async () => {
  const { wfg, asked } = await clientOf(200, '{"items":[],"next":null}');
  await wfg(listRuns, { query: { limit: 3, label: 'a b', cursor: undefined } });
  expect(asked[0]?.request).toMatchObject({ method: 'GET', url: '/api/runs?limit=3&label=a+b' });
  expect(asked[0]?.request.headers).toMatchObject({
    accept: 'application/json',
    authorization: 'Bearer secret',
  });
});

test('paths are below that of the server, and ids are written so that they stay ids', async () => {
  const { url, asked } = await clientOf(200, '{}');
  const wfg = createClient({ url: `${url}wfg` });
  await wfg(getOutputs, { params: { run: RUN_ID, job: 'a/b?#' } });
  expect(asked[0]?.request.url).toBe(`/wfg/api/runs/${RUN_ID}/jobs/a%2Fb%3F%23/outputs`);
  for (const job of ['', '.', '..'])
    await expect(wfg(getOutputs, { params: { run: RUN_ID, job } })).rejects.toThrow(RangeError);
});

test('a body is sent as JSON, or as the text of a file where the route reads one', async () => {
  const { wfg, asked } = await clientOf(201, run);
  await wfg(submitRun, { body: { name: 'x', jobs: { a: { run: 'true' } } } });
  await wfg(submitRun, { body: 'name: x' });
  expect(asked.map(({ request, body }) => [request.headers['content-type'], body])).toEqual([
    ['application/json', '{"name":"x","jobs":{"a":{"run":"true"}}}'],
    ['application/yaml', 'name: x'],
  ]);
});

test('the body of the answer comes back: JSON, text or nothing', async () => {
  expect(await (await clientOf(200, run)).wfg(getRun, { params })).toEqual(runOf({}));
  expect(await (await clientOf(200, 'a\nb')).wfg(getRawLog, { params })).toBe('a\nb');
  expect(await (await clientOf(202, '')).wfg(cancelRun, { params })).toBeUndefined();
  const { wfg } = await clientOf(201, run, { location: '/x' });
  const answer = await wfg.answer(submitRun, { body: 'name: x' });
  expect([answer.status, answer.headers.get('location'), answer.body]).toEqual([201, '/x', runOf({})]);
});

test('numbers keep their digits', async () => {
  const { wfg } = await clientOf(200, run.replace('"payload":null', '"payload":9007199254740993'));
  expect(JSON.stringify((await wfg(getRun, { params })).payload)).toBe('9007199254740993');
});

test('a refusal has status, code and words', async () => {
  const problem = { type: 't', title: 'None', status: 404, code: 'not_found', detail: 'no run', errors: [] };
  const { wfg } = await clientOf(404, JSON.stringify(problem));
  const error = await wfg(getRun, { params }).catch((err: unknown) => err);
  expect(error).toBeInstanceOf(WfgApiError);
  expect(error).toMatchObject({ status: 404, statusText: 'Not Found', code: 'not_found', problem });
  expect(error).toMatchObject({
    name: 'WfgApiError',
    message: `GET /api/runs/${RUN_ID}: 404 Not Found — no run`,
  });
});

test('a refusal that is not the server’s own has the text of what is', async () => {
  const { wfg } = await clientOf(502, `<h1>${'x'.repeat(5000)}`);
  const error = await wfg(getRun, { params }).catch((err: unknown) => err);
  expect(error).toMatchObject({ status: 502, code: null, problem: null, passes: false });
  expect(String(error)).toHaveLength(
    `WfgApiError: GET /api/runs/${RUN_ID}: 502 Bad Gateway — `.length + 1000,
  );
});

test.each([
  [200, '<html>', 'Unexpected token'],
  [200, '{"items":[{}]}', 'items.0.run_id'],
  [206, '', 'status 206'],
])('what is not the answer of the route is said not to be: %i %s', async (status, body, why) => {
  const { wfg } = await clientOf(status, body);
  const error = await wfg(listRuns).catch((err: unknown) => err);
  expect(error).toBeInstanceOf(ForeignAnswerError);
  expect(String(error)).toContain(why);
});

test('who is not there, and who does not answer, is unreachable', async () => {
  const away = createClient({ url: 'http://127.0.0.1:2' });
  await expect(away(listRuns)).rejects.toThrow(UnreachableError);
  await expect(away(listRuns)).rejects.toThrow(/GET \/api\/runs: connect ECONNREFUSED/);
  const silent = createClient({ url: await answering(() => undefined) });
  await expect(silent(listRuns, { timeoutMs: 20 })).rejects.toThrow('no answer within 0.02 s');
  const hanging = createClient({ url: await answering((_, response) => response.write('[')) });
  await expect(hanging(listRuns, { timeoutMs: 20 })).rejects.toThrow('no answer within 0.02 s');
  const leaving = new AbortController();
  const call = silent(listRuns, { signal: leaving.signal });
  leaving.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
});

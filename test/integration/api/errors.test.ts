import { PROBLEMS } from '@wfg/shared/contract/problem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isDeaf } from '../../support/deaf.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url, { CORS_ORIGINS: 'https://ci.example.org' });
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const json = { 'content-type': 'application/json' };
const nested = `{"name":"n","jobs":[{"id":"x","name":"x","command":"x","depends_on":[],"metadata":{"d":${'['.repeat(50_000)}${']'.repeat(50_000)}}}]}`;
const registration = (change: object) => JSON.stringify({ worker_id: 'w', labels: [], ...change });
const run = '00000000-0000-7000-8000-000000000000';

test.each([
  ['POST', '/api/workflows', '{', json, 400, 'malformed_json'],
  ['POST', '/api/workflows', '', json, 400, 'malformed_json'],
  ['POST', '/api/workflows', 'a: [', { 'content-type': 'application/yaml' }, 400, 'malformed_yaml'],
  ['POST', '/api/workflows', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported_type'],
  ['POST', '/api/workflows', undefined, {}, 415, 'unsupported_type'],
  ['POST', '/api/workflows', '[]', json, 422, 'invalid_workflow'],
  ['POST', '/api/workflows', '{"name":"x","jobs":[],"nmae":1}', json, 422, 'invalid_workflow'],
  ['POST', '/api/workflows', nested, json, 422, 'invalid_body'],
  ['POST', '/api/workflows', ' '.repeat(16 * 1024 * 1024 + 1), json, 413, 'too_large'],
  ['POST', '/api/workflows/ci-1/run', '{"evn":{}}', json, 422, 'invalid_body'],
  ['POST', '/api/workflows/ci-1/run', '{"env":{"A":1}}', json, 422, 'invalid_body'],
  ['POST', '/api/workflows/ci-1/run', 'env', { 'content-type': 'text/plain' }, 415, 'unsupported_type'],
  ['POST', '/api/workflows/ci-1/run', ' '.repeat(1024 * 1024 + 1), json, 413, 'too_large'],
  ['POST', '/api/workflows/unknown/run', undefined, {}, 404, 'not_found'],
  ['POST', '/api/workers/register', registration({ labels: ['a\0'] }), json, 422, 'invalid_body'],
  ['POST', '/api/workers/register', registration({ labels: ['\ud800'] }), json, 422, 'invalid_body'],
  ['POST', '/api/workers/register', registration({ handlers: ['a\0'] }), json, 422, 'invalid_body'],
  ['PUT', '/api/workflows/a%20b', '{}', json, 400, 'bad_id'],
  ['GET', '/api/workflows/%zz/status', undefined, {}, 400, 'bad_id'],
  ['GET', '/api/workflows?limit=ten', undefined, {}, 400, 'bad_query'],
  ['GET', '/api/workflows/unknown/runs', undefined, {}, 404, 'not_found'],
  ['GET', '/api/runs/7', undefined, {}, 400, 'bad_id'],
  ['GET', `/api/runs/${run}`, undefined, {}, 404, 'not_found'],
  ['POST', `/api/runs/${run}/cancel`, undefined, {}, 404, 'not_found'],
  ['GET', `/api/runs/${run}/jobs/a`, undefined, {}, 404, 'not_found'],
  ['GET', `/api/runs/${run}/jobs/a/attempts`, undefined, {}, 404, 'not_found'],
  ['GET', '/api/runs?status=done', undefined, {}, 400, 'bad_query'],
  ['GET', '/api/runs?since=yesterday', undefined, {}, 400, 'bad_query'],
  ['GET', '/api/runs?cursor=abc', undefined, {}, 400, 'bad_query'],
  ['GET', '/api/runs?label=:command', undefined, {}, 400, 'bad_query'],
  ['GET', '/api/runs?label=a%00b', undefined, {}, 400, 'bad_query'],
  ['GET', '/api/runs?workflow_type=a%00b', undefined, {}, 400, 'bad_query'],
  ['GET', '/api/workflows?cursor=abc', undefined, {}, 400, 'bad_query'],
  ['GET', `/api/runs/${run}/jobs/a/logs?after=1`, undefined, {}, 400, 'bad_query'],
  ['DELETE', '/api/runs', undefined, {}, 405, 'method_not_allowed'],
  ['GET', '/api/workflows/ci-1/run', undefined, {}, 405, 'method_not_allowed'],
  ['GET', '/api/unknown', undefined, { accept: 'text/html' }, 404, 'not_found'],
  ['POST', '/unknown', undefined, {}, 404, 'not_found'],
  ['POST', '/api/workflows/ci-1/run', undefined, { origin: 'http://evil.example' }, 403, 'foreign_origin'],
  ['POST', '/api/workflows/ci-1/run', undefined, { origin: 'null' }, 403, 'foreign_origin'],
])('%s %s → %5$i %6$s', async (method, path, body, headers, status, code) => {
  const answer = await api.ask(method, path, body, headers);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer).toMatchObject({
    status,
    body: {
      type: `urn:wfg:problem:${code}`,
      title: expect.any(String),
      status,
      code,
      detail: expect.any(String),
    },
  });
});

test.each([
  '/api/runs',
  '/api/workflows',
  '/api/workflows/ci-1/runs',
  '/api/workflows/ci-1/jobs/lint/logs',
  `/api/runs/${run}/jobs/a/logs`,
])('a parameter that %s does not have is refused by its name', async (path) => {
  const { status, body } = await api.ask('GET', `${path}?limit=1&lable=gpu`);
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'bad_query', detail: expect.stringContaining('"lable"') });
});

test('405 says what there is', async () => {
  const { headers } = await api.ask('DELETE', '/api/runs');
  expect(headers.get('allow')).toBe('GET, POST');
});

test('pages of the api’s own origin and of CORS_ORIGINS may change something', async () => {
  for (const origin of [api.url, 'https://ci.example.org']) {
    expect((await api.ask('POST', '/api/workflows/ci-1/run', undefined, { origin })).status).toBe(202);
  }
  const { headers } = await api.ask('GET', '/api/runs', undefined, { origin: 'https://ci.example.org' });
  expect(headers.get('access-control-allow-origin')).toBe('https://ci.example.org');
  const foreign = await api.ask('GET', '/api/runs', undefined, { origin: 'http://evil.example' });
  expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
});

test('the document names every route and every code', async () => {
  const { body } = await api.ask('GET', '/openapi.json');
  const { paths, info, components } = Object(body);
  expect(Object.keys(paths)).toContain('/api/runs/{run}/jobs/{job}/logs');
  for (const code of Object.keys(PROBLEMS)) expect(info.description).toContain(code);
  expect(Object.keys(components.schemas)).toEqual(
    expect.arrayContaining(['Run', 'RunSummary', 'Job', 'Workflow', 'Worker', 'Problem', 'WorkflowInput']),
  );
});

test.skipIf(isDeaf)('health and readiness are told', async () => {
  expect(await api.ask('GET', '/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
  await expect
    .poll(() => api.ask('GET', '/ready'))
    .toMatchObject({ status: 200, body: { ready: true, reasons: [] } });
  expect(await api.ask('GET', '/api/workers')).toMatchObject({ status: 200, body: [] });
});

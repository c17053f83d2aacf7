// Who is let in, and to what; where it listens; the client: rows 91, 94 to 96 and 98.
import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { WorkflowApiError, workflowClient } from '@wfg/shared/client/workflow-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyFolder, startApi, type TestApi } from '../../support/api.ts';
import { graphUser } from '../../support/graph-user.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { startProcess, startService } from '../../support/process.ts';

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

const CLI = fileURLToPath(new URL('../../../services/cli/src/main.ts', import.meta.url));
/** Where it listens unless it is told otherwise. */
const PORT = 3000;

test('91: where the port is taken the next one is used, and told', { timeout: 120_000 }, async () => {
  const taken = createServer().listen(PORT, '127.0.0.1');
  // By somebody else is as good.
  await Promise.race([once(taken, 'listening'), once(taken, 'error')]);
  try {
    const env = { DATABASE_URL: db.url, WFG_DATA_DIR: await emptyFolder(), WORKFLOWS_DIR: 'none' };
    await using up = startProcess('up', [CLI, 'up', '--json'], env);
    const { url } = await up.logged('ready');
    const port = Number(new URL(String(url)).port);
    expect(port).toBeGreaterThan(PORT);
    expect(port).toBeLessThan(PORT + 100);
    expect((await fetch(`${String(url)}/health`)).status).toBe(200);
    const wish = { ...env, WFG_DATA_DIR: await emptyFolder(), PORT: String(port) };
    const second = startProcess('up', [CLI, 'up'], wish);
    expect(await second.ended).toMatchObject({ code: 2 });
    expect(second.logs.map(({ msg }) => msg).join('\n')).toContain(`PORT ${port} is taken`);
    up.signal('SIGTERM');
    expect(await up.ended).toEqual({ code: 0, signal: null });
  } finally {
    taken.close();
  }
});

const ORIGIN = 'https://ci.example.org';
const allowed = async (one: TestApi, origin: string) =>
  (await one.ask('GET', '/api/workflows', undefined, { origin })).headers.get('access-control-allow-origin');

/** The status of a change that a page of this origin asks for. */
async function changed(one: TestApi, origin: string): Promise<number> {
  return (await one.ask('POST', '/api/workflows', { name: 'n', jobs: {} }, { origin })).status;
}

test('94: pages of other origins are let in only where they are listed; by default none is', async () => {
  expect(await allowed(api, ORIGIN)).toBeNull();
  expect(await changed(api, ORIGIN)).toBe(403);
  expect(await changed(api, new URL(api.url).origin)).toBe(201);
  await using open = await startApi(db.url, { CORS_ORIGINS: `${ORIGIN}, http://localhost:5173` });
  expect(await allowed(open, ORIGIN)).toBe(ORIGIN);
  expect(await allowed(open, 'http://localhost:5173')).toBe('http://localhost:5173');
  expect(await allowed(open, 'https://other.example.org')).toBeNull();
  expect([await changed(open, ORIGIN), await changed(open, 'https://other.example.org')]).toEqual([201, 403]);
  const asked = { origin: ORIGIN, 'access-control-request-method': 'POST' };
  const preflight = await open.ask('OPTIONS', '/api/workflows', undefined, asked);
  expect(preflight.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
});

const TOKEN = 'a-token-of-at-least-thirty-two-characters';

test('95: where there is a token nobody is let in without it, user or worker', async () => {
  await using own = await testDatabase();
  await using guarded = await startApi(own.url, { WFG_ADMIN_TOKEN: TOKEN });
  const requests = [
    ['GET', '/api/workflows', undefined],
    ['POST', '/api/workflows', { name: 'n', jobs: {} }],
    ['POST', '/api/workflows/ci-1/run', undefined],
    ['GET', '/api/workers', undefined],
    ['POST', '/api/workers/register', { worker_id: 'w', labels: [] }],
    ['POST', '/api/jobs/claim', { worker_id: 'w', labels: [] }],
    ['POST', '/api/jobs/x/complete', {}],
  ] as const;
  const bearer = { authorization: `Bearer ${TOKEN}` };
  for (const [method, path, body] of requests) {
    expect([path, (await guarded.ask(method, path, body)).status]).toEqual([path, 401]);
    const { status } = await guarded.ask(method, path, body, bearer);
    expect([path, status]).toEqual([path, expect.toBeOneOf([200, 201, 202, 404, 409])]);
  }
  const stream = await guarded.ask('GET', '/api/workflows/ci-1/jobs/lint/logs/stream');
  expect([stream.status, stream.body]).toMatchObject([401, { code: 'unauthorized' }]);
  expect((await guarded.ask('GET', '/health')).status).toBe(200);
  const wrong = await workflowClient(guarded.url, 'wrong')
    .listWorkers()
    .catch((err: unknown) => err);
  expect(wrong).toMatchObject({ name: 'WorkflowApiError', status: 401 });
  expect(await workflowClient(guarded.url, TOKEN).listWorkers()).toMatchObject([{ worker_id: 'w' }]);
});

test('95: without a token it serves this machine alone', async () => {
  const open = startService('api', { DATABASE_URL: db.url, HOST: '0.0.0.0', WORKFLOWS_DIR: 'none' });
  expect(await open.ended).toEqual({ code: 2, signal: null });
  expect(JSON.stringify(open.logs)).toContain('WFG_ADMIN_TOKEN');
});

/** Asks for a path as it is written. */
async function raw(path: string): Promise<{ status: number | undefined; body: string }> {
  const { hostname, port } = new URL(api.url);
  const [response] = await once(get({ hostname, port, path }), 'response');
  return { status: response.statusCode, body: await text(response) };
}

test.each([
  '/.env',
  '/package.json',
  '/../package.json',
  '/../../../../../../etc/passwd',
  '/assets/../../package.json',
  '/%2e%2e/package.json',
  '/..%2fpackage.json',
  '/%2e%2e%2f%2e%2e%2fpackage.json',
  '/..%5cpackage.json',
  '//etc/passwd',
  '/services/api/src/main.ts',
  '/%00',
])('96: %s is not served', async (path) => {
  const { status, body } = await raw(path);
  expect([status, body]).toEqual([
    expect.toBeOneOf([400, 404]),
    expect.not.stringMatching(/root:|"dependencies"/),
  ]);
});

test('98: the client has workflow-graph’s methods, and its error', async () => {
  const user = graphUser(api.url);
  const client = workflowClient(api.url);
  const job = { id: 'a', name: 'A', command: 'echo', depends_on: [] };
  const created = await client.createWorkflow({ name: 'client', trigger: 'on: push', jobs: [job] });
  expect(await client.listWorkflows()).toContainEqual(created);
  expect(await client.runWorkflow(created.id)).toMatchObject({ run_id: expect.any(String) });
  const claimed = await user.claimed({ worker_id: 'w98' });
  const chunk = {
    workflow_id: created.id,
    job_id: 'a',
    sequence: 0,
    data: 'x\n',
    timestamp_ms: 1,
    stream: 'stdout',
  };
  await user.tell(claimed, 'logs', { chunks: [chunk] });
  expect(await client.getStatus(created.id)).toMatchObject({ jobs: [{ status: 'running' }] });
  expect(await client.getJobLogs(created.id, 'a')).toMatchObject([chunk]);
  expect(await client.listWorkers()).toMatchObject([{ worker_id: 'w98', current_job: 'a' }]);
  await client.cancelWorkflow(created.id);
  await user.tell(claimed, 'fail', { error: 'cancelled' });
  const streamed: unknown[] = [];
  for await (const one of client.streamLogs(created.id, 'a')) streamed.push(one);
  expect(streamed).toMatchObject([chunk]);

  const calls = {
    'getStatus("none")': () => client.getStatus('none'),
    'runWorkflow("none")': () => client.runWorkflow('none'),
    'cancelWorkflow("none")': () => client.cancelWorkflow('none'),
    'getJobLogs("none", "a")': () => client.getJobLogs('none', 'a'),
  };
  for (const [method, call] of Object.entries(calls)) {
    const error = await call().catch((err: unknown) => err);
    expect(error).toBeInstanceOf(WorkflowApiError);
    expect(error).toMatchObject({ name: 'WorkflowApiError', status: 404, statusText: 'Not Found' });
    expect(String(error)).toContain(`${method}: 404 Not Found — `);
  }
});

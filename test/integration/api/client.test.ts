// The clients against a real api: workflow-graph's methods, and a log that is followed across a broken connection.
import { createClient } from '@wfg/shared/client/client';
import { WorkflowApiError, workflowClient } from '@wfg/shared/client/workflow-client';
import { streamLog } from '@wfg/shared/contract/routes/jobs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { advance, claim, finish, print, submit } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';

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

async function claimOne() {
  const [job] = await claim(db.pool, { limit: 1 });
  if (!job) throw new Error('nothing to claim');
  return job;
}

test('workflow-graph’s methods do what they did', async () => {
  const wfg = workflowClient(api.url);
  const job = { id: 'a', name: 'A', command: 'echo hi', depends_on: [] };
  const made = await wfg.createWorkflow({ name: 'w', trigger: 'push', jobs: [job] });
  expect(made).toMatchObject({ name: 'w', trigger: 'push', jobs: [{ id: 'a', status: 'queued' }] });
  expect((await wfg.listWorkflows()).map(({ id }) => id)).toEqual([made.id, 'ci-1']);

  await wfg.runWorkflow(made.id);
  const claimed = await claimOne();
  await print(db.pool, claimed, 0, 2);
  await finish(db.pool, claimed, { log_chunks: 2 });
  await advance(db.pool);
  expect(await wfg.getStatus(made.id)).toMatchObject({ jobs: [{ status: 'success' }] });
  const chunks = await wfg.getJobLogs(made.id, 'a');
  expect(chunks.map(({ sequence }) => sequence)).toEqual([0, 1]);
  const streamed = [];
  for await (const chunk of wfg.streamLogs(made.id, 'a')) streamed.push(chunk);
  expect(streamed).toEqual(chunks);

  await wfg.runWorkflow(made.id);
  await wfg.cancelWorkflow(made.id);
  expect(await wfg.getStatus(made.id)).toMatchObject({ jobs: [{ status: 'cancelled' }] });
  expect(await wfg.listWorkers()).toEqual([]);
});

test('all workflows are listed, however many answers they take', async () => {
  const wfg = workflowClient(api.url);
  await db.pool.query(
    `insert into wfg_workflows (id, name, trigger, definition, source, created_at)
     select 'many-' || n, name, trigger, definition, source, created_at - n * interval '1 second'
     from wfg_workflows, generate_series(1, 150) n where id = 'ci-1'`,
  );
  const found = await wfg.listWorkflows();
  expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
  expect(found.length).toBeGreaterThan(150);
});

test('a refusal is a WorkflowApiError that names the method', async () => {
  const error = await workflowClient(api.url)
    .getStatus('none')
    .catch((err: unknown) => err);
  expect(error).toBeInstanceOf(WorkflowApiError);
  expect(error).toMatchObject({
    name: 'WorkflowApiError',
    status: 404,
    statusText: 'Not Found',
    code: 'not_found',
    message: 'getStatus("none"): 404 Not Found — there is no workflow none',
  });
  const stream = workflowClient(api.url).streamLogs('none', 'a');
  await expect(stream.next()).rejects.toThrow('streamLogs("none", "a"): 404');
});

test('a log is followed across a broken connection, each chunk once', async () => {
  await using proxy = await TcpProxy.start(api.url);
  const run = await submit(db.pool, { a: {} });
  const job = await claimOne();
  await print(db.pool, job, 0, 3);
  const heard: string[] = [];
  const events = createClient({ url: proxy.url }).stream(streamLog, { params: { run, job: 'a' } });
  for await (const event of events) {
    heard.push(event.event === 'log' ? event.id : event.data.state);
    if (heard.length !== 3) continue;
    proxy.cut();
    await print(db.pool, job, 3, 5);
    await finish(db.pool, job, { log_chunks: 5 });
  }
  expect(heard).toEqual(['0:0', '0:1', '0:2', '0:3', '0:4', 'completed']);
});

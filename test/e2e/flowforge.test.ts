// FlowForge's README from top to bottom, against a whole wfg: each statement it makes is a test. What it says of its own
// program (Rust, its files, port 8080) has no counterpart; its unit tests stand beside the simulators.
import { Event } from '@wfg/shared/contract/event';
import { Attempt } from '@wfg/shared/contract/job';
import { EventMetrics } from '@wfg/shared/contract/stats';
import { DEMONSTRATION } from '@wfg/shared/runtime/module-files';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';

let db: TestDatabase;
let wfg: Cluster;

beforeAll(async () => {
  db = await testDatabase();
  wfg = await startCluster(db, { env: { WFG_MODULES: DEMONSTRATION } });
  await waitFor('the worker to offer its handlers', async () => {
    const { rows } = await db.pool.query(`select from wfg_workers where 'user.created' = any(handlers)`);
    return rows.length === 1;
  });
});

afterAll(async () => {
  await wfg[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** What `curl` sends, and what it prints if the answer is a good one. */
async function curl(path: string, data?: string): Promise<unknown> {
  const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: data ?? null };
  const response = await fetch(wfg.url + path, data === undefined ? { headers: { accept: '*/*' } } : post);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.status).toBe(data === undefined ? 200 : 201);
  return response.json();
}

async function submit(data: string): Promise<Event> {
  return Event.parse(await curl('/workflows', data));
}

function submitType(workflow_type: string, given: object = {}): Promise<Event> {
  return submit(JSON.stringify({ workflow_type, payload: {}, ...given }));
}

const Progress = z.object({ status: z.string(), attempts: z.int(), last_error: z.string().nullable() });

async function statusWhen(id: string, status: string): Promise<z.infer<typeof Progress>> {
  return waitFor(
    `${id} to be ${status}`,
    async () => {
      const seen = Progress.parse(await curl(`/workflows/${id}/status`));
      if (seen.status !== status) throw new Error(JSON.stringify(seen));
      return seen;
    },
    30_000,
  );
}

async function attemptsOf(id: string) {
  return z.array(Attempt).parse(await curl(`/workflows/${id}/attempts`));
}

/** The lines about an event, once the last of these is there: what is not named is not looked at. */
async function linesOf(id: string, last: string): Promise<Record<string, unknown>[]> {
  return waitFor(`"${last}" about ${id}`, () => {
    const lines = [...wfg.of('api'), ...wfg.of('worker')].flatMap(({ logs }) => logs);
    const about = lines.filter((line) => line.workflow_id === id);
    return about.some(({ msg }) => msg === last) && about;
  });
}

const CLAIM = `{
    "workflow_type": "claim.submitted",
    "payload": {
      "claim_id": "CLM-1001",
      "customer_id": "CUS-204",
      "amount": 2500
    }
  }`;
const NOTIFICATION = `{
    "workflow_type": "notification.send",
    "payload": {
      "user_id": "USR-42",
      "channel": "email",
      "template": "welcome"
    }
  }`;
const ML_JOB = `{
    "workflow_type": "ml_job.queued",
    "payload": {
      "model": "fraud-detector-v2",
      "input_schema_version": "0.9"
    }
  }`;
const EXHAUSTED = 'Workflow exhausted retries – moving to dead_lettered';
const RETRYING = 'Workflow processing failed – will retry';

test('health check: curl /health', async () => {
  expect(await curl('/health')).toEqual({ status: 'ok' });
});

test('submit a claim workflow: its UUID is answered, with 0 attempts of 3', async () => {
  const claim = await submit(CLAIM);
  expect(claim).toMatchObject({ status: 'pending', attempts: 0, max_attempts: 3, last_error: null });
  await statusWhen(claim.id, 'completed');
});

test('get a specific workflow: with its full payload', async () => {
  const { id } = await submit(CLAIM);
  expect(await curl(`/workflows/${id}`)).toMatchObject({
    id,
    workflow_type: 'claim.submitted',
    payload: { claim_id: 'CLM-1001', customer_id: 'CUS-204', amount: 2500 },
    max_attempts: 3,
  });
});

test('max_attempts is configurable per workflow', async () => {
  const { id, max_attempts } = await submitType('notification.send', { max_attempts: 1 });
  expect(max_attempts).toBe(1);
  expect(await statusWhen(id, 'dead_lettered')).toMatchObject({ attempts: 1 });
});

test('every workflow is persisted before processing begins, and before the answer', async () => {
  const now = await submitType('user.created');
  const later = await submitType('user.created', { run_at: '2040-01-01T00:00:00Z' });
  await wfg.kill('api');
  await wfg.of('api')[0]?.logged('listening');
  await statusWhen(now.id, 'completed');
  expect(await statusWhen(later.id, 'pending')).toMatchObject({ attempts: 0 });
});

test.each(['user.created', 'document.uploaded', 'claim.submitted'])(
  '%s always succeeds on first attempt',
  async (type) => {
    const { id } = await submitType(type);
    expect(await statusWhen(id, 'completed')).toMatchObject({ attempts: 1, last_error: null });
  },
);

test('notification.send fails on attempt 1 (503 from provider), succeeds on retry', async () => {
  const { id } = await submit(NOTIFICATION);
  const failed = await statusWhen(id, 'failed');
  expect(failed).toMatchObject({ attempts: 1, last_error: expect.stringContaining('503') });
  expect(await statusWhen(id, 'completed')).toMatchObject({ attempts: 2, last_error: failed.last_error });
});

test('payment.review_requested succeeds on odd attempts, and the first is one', async () => {
  const { id } = await submitType('payment.review_requested');
  expect(await statusWhen(id, 'completed')).toMatchObject({ attempts: 1 });
});

test('ml_job.queued always fails: exhausts retries and becomes dead_lettered', async () => {
  const { id } = await submit(ML_JOB);
  expect(await statusWhen(id, 'dead_lettered')).toMatchObject({
    attempts: 3,
    last_error: expect.stringMatching(/^ML inference failed/),
  });
});

test('the error reason is stored on every failure, and every attempt is on record', async () => {
  const dead = await submit(ML_JOB);
  const { last_error } = await statusWhen(dead.id, 'failed');
  expect(last_error).toMatch(/^ML inference failed/);
  const { id } = await submit(NOTIFICATION);
  await statusWhen(id, 'completed');
  expect(await attemptsOf(id)).toMatchObject([
    { attempt: 0, try: 1, outcome: 'failed', error: expect.stringContaining('503') },
    { attempt: 1, try: 2, outcome: 'completed', error: null },
  ]);
  await statusWhen(dead.id, 'dead_lettered');
  const attempts = await attemptsOf(dead.id);
  expect(attempts).toMatchObject(
    [1, 2, 3].map((count) => ({ try: count, outcome: 'failed', error: last_error })),
  );
  for (const { started_at, finished_at } of attempts)
    expect(Date.parse(finished_at ?? '')).not.toBeLessThan(Date.parse(started_at));
});

test('a status tells attempts, errors and timestamps', async () => {
  const { id } = await submitType('user.created');
  await statusWhen(id, 'completed');
  expect(await curl(`/workflows/${id}/status`)).toEqual({
    id,
    status: 'completed',
    attempts: 1,
    max_attempts: 3,
    last_error: null,
    created_at: expect.any(String),
    updated_at: expect.any(String),
    started_at: expect.any(String),
    completed_at: expect.any(String),
  });
});

test('list all workflows: newest first', async () => {
  const older = await submitType('document.uploaded');
  const newer = await submitType('document.uploaded');
  const list = z.array(Event).parse(await curl('/workflows'));
  expect(list.slice(0, 2).map(({ id }) => id)).toEqual([newer.id, older.id]);
  expect(list.map(({ created_at }) => created_at)).toEqual(
    list
      .map(({ created_at }) => created_at)
      .toSorted()
      .toReversed(),
  );
});

test('claimed atomically: many workers, and each workflow is processed once', async () => {
  await using second = startService('worker', { DATABASE_URL: db.url, WORKER_ID: 'second' });
  await second.logged('started');
  const events = await Promise.all(Array.from({ length: 40 }, () => submitType('claim.submitted')));
  for (const { id } of events) {
    expect(await statusWhen(id, 'completed')).toMatchObject({ attempts: 1 });
    expect(await attemptsOf(id)).toMatchObject([{ attempt: 0, outcome: 'completed' }]);
  }
});

test('no data is lost with a worker that is killed', async () => {
  const events = await Promise.all(Array.from({ length: 40 }, () => submitType('document.uploaded')));
  await wfg.kill('worker');
  for (const { id } of events)
    expect(await statusWhen(id, 'completed')).toMatchObject({ status: 'completed' });
});

test('view metrics: each number, and the total is their sum', async () => {
  const before = EventMetrics.parse(await curl('/metrics'));
  const done = await submitType('user.created');
  await submitType('user.created', { run_at: '2040-01-01T00:00:00Z' });
  await statusWhen(done.id, 'completed');
  const after = EventMetrics.parse(await curl('/metrics'));
  const { pending, processing, completed, failed, dead_lettered, cancelled } = after;
  expect(pending + processing + completed + failed + dead_lettered + cancelled).toBe(after.total_workflows);
  expect(after).toMatchObject({
    total_workflows: before.total_workflows + 2,
    pending: before.pending + 1,
    completed: before.completed + 1,
    dead_lettered: before.dead_lettered,
  });
  expect(after.average_processing_time_ms).toBeGreaterThan(0);
});

test('structured logs of one that succeeds: created, processing, succeeded', async () => {
  const { id } = await submit(CLAIM);
  expect(await linesOf(id, 'Workflow processing succeeded')).toMatchObject([
    { level: 'info', msg: 'Workflow created', workflow_id: id, workflow_type: 'claim.submitted' },
    { level: 'info', msg: 'Processing workflow', workflow_id: id, attempt: 1, max_attempts: 3 },
    { level: 'info', msg: 'Workflow processing succeeded', workflow_id: id },
  ]);
});

test('the dead-letter story: watched, logged line by line, counted, and requeued', async () => {
  const before = EventMetrics.parse(await curl('/metrics'));
  const { id } = await submit('{"workflow_type": "ml_job.queued", "payload": {"model": "fraud-v2"}}');
  await statusWhen(id, 'failed');
  await statusWhen(id, 'dead_lettered');
  const of = { workflow_id: id, workflow_type: 'ml_job.queued' };
  const reason = expect.stringMatching(/^ML inference failed/);
  expect(await linesOf(id, EXHAUSTED)).toMatchObject([
    { level: 'info', msg: 'Workflow created', ...of },
    { level: 'info', msg: 'Processing workflow', ...of, attempt: 1 },
    { level: 'warn', msg: RETRYING, workflow_id: id, reason },
    { level: 'info', msg: 'Processing workflow', ...of, attempt: 2 },
    { level: 'warn', msg: RETRYING, workflow_id: id, reason },
    { level: 'info', msg: 'Processing workflow', ...of, attempt: 3 },
    { level: 'warn', msg: EXHAUSTED, workflow_id: id },
  ]);
  const after = EventMetrics.parse(await curl('/metrics'));
  expect(after.dead_lettered).toBe(before.dead_lettered + 1);
  const list = z
    .array(Event)
    .parse(await curl('/workflows?status=dead_lettered&workflow_type=ml_job.queued'));
  expect(list[0]).toMatchObject({ id, status: 'dead_lettered' });
  const requeued = await fetch(`${wfg.url}/workflows/${id}/requeue`, { method: 'POST' });
  expect(await requeued.json()).toMatchObject({ id, status: 'pending', attempts: 0 });
  expect(await statusWhen(id, 'dead_lettered')).toMatchObject({ attempts: 3 });
  expect((await attemptsOf(id)).map((attempt) => attempt.try)).toEqual([1, 2, 3, 1, 2, 3]);
});

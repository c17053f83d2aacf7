// The handlers that ship with the worker: FlowForge's six demonstration types, their attempts, logs and lines.
import { listWorkers } from '@wfg/shared/queries/worker-list';
import { DEMONSTRATION } from '@wfg/shared/runtime/module-files';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attemptsOf, enqueue, eventWhen, isCompleted, isFailed, printed } from '../../support/events.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import type { TestProcess } from '../../support/process.ts';
import { waitFor } from '../../support/wait-for.ts';
import { reasonsOf, startWorker } from '../../support/worker.ts';

const RETRYING = 'Workflow processing failed – will retry';
const EXHAUSTED = 'Workflow exhausted retries – moving to dead_lettered';

let db: TestDatabase;
let worker: TestProcess;

beforeAll(async () => {
  db = await testDatabase();
  worker = startWorker(db.url, { WFG_MODULES: DEMONSTRATION });
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** The lines about an event, each as its message and what is special about it. */
async function linesOf(id: string, count: number): Promise<unknown[]> {
  const lines = await waitFor(`${count} lines`, () => {
    const found = worker.logs.filter((line) => line.workflow_id === id);
    return found.length >= count && found;
  });
  return lines.map(({ msg, level, attempt, reason }) => [level, msg, attempt, ...(reason ? [reason] : [])]);
}

test.for(['user.created', 'document.uploaded', 'claim.submitted', 'payment.review_requested'])(
  '%s completes on the first try',
  async (type) => {
    const id = await enqueue(db.pool, type, { any: 'thing' });
    expect(await eventWhen(db.pool, id, isCompleted)).toMatchObject({ tries: 1, attempt: 0, error: null });
    expect(await attemptsOf(db.pool, id)).toEqual([{ try: 1, outcome: 'completed', error: null }]);
    expect(await printed(db.pool, id)).toBe(`${type}: try 1 of 3\n`);
    expect(await linesOf(id, 2)).toEqual([
      ['info', 'Processing workflow', 1],
      ['info', 'Workflow processing succeeded', 1],
    ]);
  },
);

test('notification.send fails once and then completes', async () => {
  const id = await enqueue(db.pool, 'notification.send');
  const { error } = await eventWhen(db.pool, id, ({ state, tries }) => state === 'completed' && tries === 2);
  expect(error).toContain('503');
  expect(await attemptsOf(db.pool, id)).toMatchObject([
    { outcome: 'failed', error },
    { outcome: 'completed' },
  ]);
  expect(await linesOf(id, 4)).toEqual([
    ['info', 'Processing workflow', 1],
    ['warn', RETRYING, 1, error],
    ['info', 'Processing workflow', 2],
    ['info', 'Workflow processing succeeded', 2],
  ]);
});

test('notification.send with a single try is a dead letter', async () => {
  const id = await enqueue(db.pool, 'notification.send', {}, { max_attempts: 1 });
  const { error } = await eventWhen(db.pool, id, isFailed);
  expect(await linesOf(id, 2)).toEqual([
    ['info', 'Processing workflow', 1],
    ['warn', EXHAUSTED, 1, error],
  ]);
});

test('ml_job.queued is a dead letter after its three tries', async () => {
  const id = await enqueue(db.pool, 'ml_job.queued', { model: 'fraud-detector-v2' });
  const { error, tries } = await eventWhen(db.pool, id, isFailed);
  expect({ error, tries }).toEqual({ error: expect.stringMatching(/^ML inference failed: /), tries: 3 });
  expect(await attemptsOf(db.pool, id)).toMatchObject([1, 2, 3].map((count) => ({ try: count, error })));
  expect(await printed(db.pool, id, 'stderr', 2)).toMatch(/^Error: ML inference failed: .*\n +at /);
  const failed = (attempt: number, what: string) => [
    ['info', 'Processing workflow', attempt],
    ['warn', what, attempt, error],
  ];
  expect(await linesOf(id, 6)).toEqual([
    ...failed(1, RETRYING),
    ...failed(2, RETRYING),
    ...failed(3, EXHAUSTED),
  ]);
});

test('a type that no handler has waits', async () => {
  const id = await enqueue(db.pool, 'nobody.knows');
  const other = await enqueue(db.pool, 'user.created');
  await eventWhen(db.pool, other, isCompleted);
  expect(await eventWhen(db.pool, id, () => true)).toMatchObject({ state: 'pending', attempt: -1 });
});

test('the worker is shown with its types, and what they declare is stored', async () => {
  const types = [
    'claim.submitted',
    'document.uploaded',
    'ml_job.queued',
    'notification.send',
    'payment.review_requested',
    'user.created',
  ];
  await waitFor('the types', async () => (await listWorkers(db.pool))[0]?.handlers.length === 6);
  expect(await listWorkers(db.pool)).toMatchObject([{ worker_id: 'w1', handlers: types, labels: [] }]);
  const { rows } = await db.pool.query('select workflow_type from wfg_handlers order by 1');
  expect(rows.map((row) => row.workflow_type)).toEqual(types);
});

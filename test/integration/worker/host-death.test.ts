// A handler host that dies: who is to blame has failed a try, the others are lost uncharged, at once, and another host
// takes over.
import { existsSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  attemptsOf,
  enqueue,
  eventWhen,
  isActive,
  isCompleted,
  isFailed,
  newTrail,
  printed,
} from '../../support/events.ts';
import { newGate } from '../../support/gate.ts';
import { hold } from '../../support/locks.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import type { TestProcess } from '../../support/process.ts';
import { waitFor } from '../../support/wait-for.ts';
import { HOST_START_MS, hostOf, jobWhen, reasonsOf, startHandlerWorker } from '../../support/worker.ts';
import { submit } from '../../support/engine.ts';

vi.setConfig({ testTimeout: 4 * HOST_START_MS });

let db: TestDatabase;
let worker: TestProcess;

beforeAll(async () => {
  db = await testDatabase();
});

// A worker pauses longer after each death of its host: one that has seen few makes little of the waiting.
beforeEach(async () => {
  // Nothing here waits for a lease to run out.
  worker = startHandlerWorker(db.url, { LEASE_TTL_SECS: '600' });
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
});

afterEach(() => worker[Symbol.asyncDispose]());

afterAll(() => db[Symbol.asyncDispose]());

/** An event that runs until its gate is opened. */
async function bystander() {
  const gate = newGate();
  const id = await enqueue(db.pool, 'test.wait', { gate: gate.path });
  await eventWhen(db.pool, id, isActive);
  return { id, gate };
}

test('kill -9 of the host loses what it runs, and commands go on', async () => {
  const { id, gate } = await bystander();
  const command = await submit(db.pool, { job: { run: gate.wait } });
  await jobWhen(db.pool, command, 'job', ({ state }) => state === 'active');
  const host = await hostOf(worker, id);
  process.kill(host, 'SIGKILL');
  await eventWhen(db.pool, id, ({ attempt, state }) => attempt === 1 && state === 'active', HOST_START_MS);
  await gate.open();
  expect(await eventWhen(db.pool, id, isCompleted)).toMatchObject({ tries: 1, losses: 1 });
  expect(await attemptsOf(db.pool, id)).toMatchObject([
    { outcome: 'lost', error: 'the handler host of handlers.ts died: it ended with SIGKILL' },
    { outcome: 'completed' },
  ]);
  expect(await jobWhen(db.pool, command, 'job', ({ state }) => state === 'completed')).toMatchObject({
    attempt: 0,
  });
  expect(await hostOf(worker, id, 1)).not.toBe(host);
});

test('another host takes over also while a row of what the dead one ran is held', async () => {
  const { id, gate } = await bystander();
  {
    await using _ = await hold(db.pool, 'select from wfg_jobs where run_id = $1 for update', [id]);
    process.kill(await hostOf(worker, id), 'SIGKILL');
    await eventWhen(db.pool, await enqueue(db.pool, 'test.print'), isCompleted, HOST_START_MS);
  }
  await gate.open();
  expect(await eventWhen(db.pool, id, isCompleted, HOST_START_MS)).toMatchObject({ attempt: 1, losses: 1 });
});

test.for([
  ['test.exit', 'process.exit(7) was called'],
  ['test.disconnect', 'process.disconnect() was called'],
  ['test.throw-later', 'nobody caught it'],
  ['test.reject', 'nobody caught it'],
] as const)('%s is a failed try of its own event, and a loss of others', async ([type, error]) => {
  const { id: other, gate } = await bystander();
  const id = await enqueue(db.pool, type, { text: 'nobody caught it', gate: 'never' }, { max_attempts: 1 });
  expect(await eventWhen(db.pool, id, isFailed)).toMatchObject({ tries: 1, losses: 0, error });
  expect(await attemptsOf(db.pool, id)).toEqual([{ try: 1, outcome: 'failed', error }]);
  await eventWhen(db.pool, other, ({ attempt, state }) => attempt === 1 && state === 'active', HOST_START_MS);
  await gate.open();
  expect(await eventWhen(db.pool, other, isCompleted)).toMatchObject({ tries: 1, losses: 1 });
  expect(await attemptsOf(db.pool, other)).toMatchObject([
    { outcome: 'lost', error: `the handler host of handlers.ts died: ${error}` },
    { outcome: 'completed' },
  ]);
});

test('what nobody caught is in the log of its job', async () => {
  const id = await enqueue(
    db.pool,
    'test.throw-later',
    { text: 'nobody caught it', gate: 'never' },
    { max_attempts: 1 },
  );
  await eventWhen(db.pool, id, isFailed);
  expect(await printed(db.pool, id, 'stderr')).toMatch(/^Error: nobody caught it\n +at /);
});

test('a failed try of a host that died is repeated like any other', async () => {
  const id = await enqueue(db.pool, 'test.exit', {}, { max_attempts: 3 });
  expect(await eventWhen(db.pool, id, isFailed, 3 * HOST_START_MS)).toMatchObject({ tries: 3, losses: 0 });
  const tried = { outcome: 'failed', error: 'process.exit(7) was called' };
  expect(await attemptsOf(db.pool, id)).toMatchObject([tried, tried, tried]);
  // It is told after it is stored.
  const last = await waitFor('its last line', () =>
    worker.logs.find(
      ({ workflow_id, msg }) => workflow_id === id && String(msg).startsWith('Workflow exhausted'),
    ),
  );
  expect(last).toMatchObject({ msg: 'Workflow exhausted retries – moving to dead_lettered', attempt: 3 });
});

test('an event whose host is lost five times is a dead letter', async () => {
  const id = await enqueue(db.pool, 'test.wait', { gate: 'never' });
  // The first three, each of which would make the worker pause longer.
  await db.pool.query('update wfg_jobs set losses = 3 where run_id = $1', [id]);
  process.kill(await hostOf(worker, id), 'SIGKILL');
  await eventWhen(db.pool, id, ({ losses, state }) => losses === 4 && state === 'active', HOST_START_MS);
  process.kill(await hostOf(worker, id, 1), 'SIGKILL');
  await eventWhen(db.pool, id, ({ losses }) => losses === 5);
  const { state, error, tries } = await eventWhen(db.pool, id, () => true);
  expect({ state, error }).toEqual({ state: 'failed', error: expect.stringMatching(/^worker lost: /) });
  expect(tries).toBe(0);
});

test('what a handler started ends with its host', async () => {
  const trail = newTrail();
  const gate = newGate();
  const id = await enqueue(db.pool, 'test.spawn', { trail: trail.path, gate: gate.path });
  const child = await waitFor('a child', () => Number(/child (\d+)/.exec(trail.lines().join())?.[1]));
  process.kill(await hostOf(worker, id), 'SIGKILL');
  await waitFor('the child to be gone', () => !existsSync(`/proc/${child}`));
  await gate.open();
  expect(await eventWhen(db.pool, id, isCompleted, HOST_START_MS)).toMatchObject({ attempt: 1 });
});

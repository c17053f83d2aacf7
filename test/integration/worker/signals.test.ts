// What a worker makes of SIGTERM, SIGINT and a second one: jobs finish within the grace, the rest is handed back.
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { submit } from '../../support/engine.ts';
import { attemptsOf, enqueue, eventWhen, isCompleted, newTrail } from '../../support/events.ts';
import { listener } from '../../support/ear.ts';
import { newGate } from '../../support/gate.ts';
import { processesWith } from '../../support/left-processes.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import type { TestProcess } from '../../support/process.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, ring, startHandlerWorker } from '../../support/worker.ts';

let db: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  db = await testDatabase();
  ({ pool } = db);
});

afterAll(() => db[Symbol.asyncDispose]());

beforeEach(() => pool.query('truncate wfg_jobs'));

const BACK = { state: 'pending', attempt: 0, tries: 0, outcome: 'handed_back', error: null };
const WHY = [{ try: 1, outcome: 'handed_back', error: 'shutdown: the worker was stopped' }];

/** A command and two events that run, have one try, and end when their gate is opened; one event stops when it is told to. */
async function begun() {
  const gate = newGate();
  const trail = newTrail();
  const payload = { gate: gate.path, trail: trail.path };
  const heeds = await enqueue(pool, 'test.wait', payload, { max_attempts: 1 });
  const deaf = await enqueue(pool, 'test.deaf', payload, { max_attempts: 1 });
  const run = await submit(pool, {
    job: { run: `trap '' TERM; echo begun >>'${trail.path}'; ${gate.wait}` },
  });
  await ring(pool);
  await waitFor('all to begin', () => trail.lines().length === 3);
  return { gate, trail, events: [heeds, deaf], run };
}

async function signalAgain(worker: TestProcess): Promise<void> {
  worker.signal('SIGTERM');
  await worker.logged('waiting for running jobs to finish');
  const since = performance.now();
  await waitFor('another keypress', () => performance.now() - since > 600);
  worker.signal('SIGTERM');
}

test.for(['SIGTERM', 'SIGINT'] as const)(
  'known fault 21, D3 87: on %s what runs finishes, nothing more is claimed, and the worker exits 0',
  async (signal) => {
    const gate = newGate();
    const worker = startHandlerWorker(db.url, { SHUTDOWN_GRACE_SECS: '600', WORKER_CONCURRENCY: '2' });
    const run = await submit(pool, { long: { run: `${gate.wait}; echo told=yes >>"$WFG_OUTPUT"` } });
    await ring(pool);
    await jobWhen(pool, run, 'long', ({ state }) => state === 'active');
    worker.signal(signal);
    await worker.logged('waiting for running jobs to finish');
    const late = await submit(pool, { job: {} });
    const event = await enqueue(pool, 'test.print');
    await gate.open();
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(await jobWhen(pool, run, 'long', () => true)).toMatchObject({
      state: 'completed',
      attempt: 0,
      outputs: { told: 'yes' },
    });
    expect(await jobWhen(pool, late, 'job', () => true)).toMatchObject({ state: 'pending', attempt: -1 });
    expect(await eventWhen(pool, event, () => true)).toMatchObject({ state: 'pending', attempt: -1 });
  },
);

test('known fault 20: what a stop interrupts is finished elsewhere, on its only try, and the record says why', async () => {
  const worker = startHandlerWorker(db.url, { SHUTDOWN_GRACE_SECS: '0', KILL_GRACE_SECS: '1' });
  const { gate, trail, events, run } = await begun();
  await using ear = await listener(db.url);
  worker.signal('SIGTERM');
  expect(await worker.ended).toEqual({ code: 0, signal: null });
  // Other workers learn of it at once, as this one takes nothing more.
  await waitFor('a lane to be rung', () => ear.bells.some(({ lanes }) => lanes !== undefined));
  expect(await jobWhen(pool, run, 'job', () => true)).toMatchObject(BACK);
  for (const event of events) {
    expect(await eventWhen(pool, event, () => true)).toMatchObject({ ...BACK, losses: 0 });
    expect(trail.lines(event)).toEqual(['begin', 'abort:shutdown']);
  }
  await gate.open();
  await using _ = startHandlerWorker(db.url, { WORKER_ID: 'w2' });
  const done = { state: 'completed', attempt: 1, tries: 1 };
  expect(await jobWhen(pool, run, 'job', ({ state }) => state === 'completed')).toMatchObject(done);
  for (const event of events) expect(await eventWhen(pool, event, isCompleted)).toMatchObject(done);
  for (const job of [run, ...events]) expect((await attemptsOf(pool, job))[0]).toEqual(WHY[0]);
});

test('known fault 21: a second SIGTERM ends what runs, which is handed back', async () => {
  const worker = startHandlerWorker(db.url, { SHUTDOWN_GRACE_SECS: '600', KILL_GRACE_SECS: '600' });
  const { events, run } = await begun();
  await signalAgain(worker);
  expect(await worker.ended).toEqual({ code: 1, signal: null });
  expect(worker.logs.map(({ msg }) => msg)).toContain('stopped');
  expect(await jobWhen(pool, run, 'job', () => true)).toMatchObject(BACK);
  for (const event of events)
    expect(await eventWhen(pool, event, () => true)).toMatchObject({ ...BACK, losses: 0 });
  for (const job of [run, ...events]) expect(await attemptsOf(pool, job)).toEqual(WHY);
});

test('a second SIGTERM ends it also while the database is away, with all that it started', async () => {
  await using proxy = await TcpProxy.start(db.url);
  const worker = startHandlerWorker(proxy.url, {
    SHUTDOWN_GRACE_SECS: '600',
    KILL_GRACE_SECS: '600',
    TZ: 'Etc/Second',
  });
  await begun();
  await proxy.close();
  await signalAgain(worker);
  expect(await worker.ended).toEqual({ code: 1, signal: null });
  expect(worker.logs.map(({ msg }) => msg)).toContain('not stopped after 3 s: exiting at once');
  await waitFor('all to be dead', () => processesWith('TZ=Etc/Second').length === 0, 5_000);
});

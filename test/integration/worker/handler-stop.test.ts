// Handlers that are told to stop, by a cancel, a timeout or the end of their worker, and what becomes of those that do
// not listen.
import { existsSync } from 'node:fs';
import { cancelJob } from '@wfg/shared/queries/cancel';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isDeaf } from '../../support/deaf.ts';
import {
  attemptsOf,
  enqueue,
  eventWhen,
  isCancelled,
  isCompleted,
  isFailed,
  newTrail,
  printed,
} from '../../support/events.ts';
import { newGate } from '../../support/gate.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import type { TestProcess } from '../../support/process.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hostOf, reasonsOf, ring, startHandlerWorker } from '../../support/worker.ts';

let db: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  db = await testDatabase();
  ({ pool } = db);
});

afterAll(() => db[Symbol.asyncDispose]());

const isReady = async (worker: TestProcess) =>
  waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);

/** An event that waits at a gate, and what it does until it is there. */
async function begun(type: string, options: Parameters<typeof enqueue>[3] = {}) {
  const trail = newTrail();
  const gate = newGate();
  const id = await enqueue(pool, type, { trail: trail.path, gate: gate.path }, options);
  await waitFor('it to begin', () => trail.lines(id).includes('begin'));
  return { id, gate, steps: (attempt?: number) => trail.lines(id, attempt) };
}

async function cancel(id: string): Promise<void> {
  await cancelJob(pool, id, 'main');
  await ring(pool, JSON.stringify({ v: 1, cancel: [id] }));
}

describe('a running worker', () => {
  let worker: TestProcess;
  beforeAll(async () => {
    worker = startHandlerWorker(db.url, { KILL_GRACE_SECS: '1', SHUTDOWN_GRACE_SECS: '60' });
    await isReady(worker);
  });
  afterAll(() => worker[Symbol.asyncDispose]());

  test('aborts a handler whose event is cancelled, and ends it cancelled when it has ended', async () => {
    const { id, steps } = await begun('test.wait');
    await cancel(id);
    expect(await eventWhen(pool, id, isCancelled)).toMatchObject({ attempt: 0, outcome: 'cancelled' });
    expect(steps()).toEqual(['begin', 'abort:cancelled']);
  });

  test('known fault 17: one that does not listen is cancelled when it is dead, and nobody else is hurt', async () => {
    const other = await begun('test.wait');
    const { id, steps } = await begun('test.deaf');
    const host = await hostOf(worker, id);
    await cancel(id);
    await worker.logged('it goes on although it was told to stop: its process is to be ended');
    // It is no longer looked after by the process that looks for jobs.
    const later = await begun('test.wait');
    expect(await hostOf(worker, later.id)).not.toBe(host);
    expect(await eventWhen(pool, id, () => true)).toMatchObject({ state: 'active' });
    expect(existsSync(`/proc/${host}`)).toBe(true);
    await other.gate.open();
    expect(await eventWhen(pool, id, isCancelled)).toMatchObject({ attempt: 0, outcome: 'cancelled' });
    expect(existsSync(`/proc/${host}`)).toBe(false);
    expect(steps()).toEqual(['begin', 'abort:cancelled']);
    expect(await printed(pool, id, 'stderr')).toBe(
      '[wfg] the job is cancelled: the handler was told to stop\n' +
        '[wfg] the handler goes on: it ends with its process\n',
    );
    expect(await eventWhen(pool, other.id, isCompleted)).toMatchObject({ attempt: 0, losses: 0 });
    await later.gate.open();
    expect(await eventWhen(pool, later.id, isCompleted)).toMatchObject({ attempt: 0, losses: 0 });
  });

  test('times out a handler as the event says, else as the handler declares', async () => {
    const { id, steps } = await begun('test.wait', { timeout_secs: 1, max_attempts: 1 });
    const brief = await begun('test.brief', { max_attempts: 1 });
    const longer = await begun('test.brief', { timeout_secs: 600 });
    const error = 'timeout after 1s';
    expect(await eventWhen(pool, id, isFailed)).toMatchObject({ outcome: 'timed_out', error });
    expect(await eventWhen(pool, brief.id, isFailed)).toMatchObject({ outcome: 'timed_out', error });
    expect(steps()).toEqual(['begin', 'abort:timeout']);
    expect(longer.steps()).toEqual(['begin']);
    await longer.gate.open();
    expect(await eventWhen(pool, longer.id, isCompleted)).toMatchObject({ attempt: 0 });
  });

  test('retries what timed out, also if it does not listen', async () => {
    const { id, gate, steps } = await begun('test.deaf', { timeout_secs: 1, max_attempts: 2 });
    const host = await hostOf(worker, id);
    await waitFor('the second try', () => steps(1).includes('begin'));
    expect(existsSync(`/proc/${host}`)).toBe(false);
    await gate.open();
    expect(await eventWhen(pool, id, isCompleted)).toMatchObject({ attempt: 1, tries: 2 });
    expect(await attemptsOf(pool, id)).toMatchObject([{ outcome: 'timed_out' }, { outcome: 'completed' }]);
    expect(steps()).toEqual(['begin', 'abort:timeout']);
  });

  test('aborts a handler whose lease is lost, and drops its result', async () => {
    const { id, steps } = await begun('test.wait');
    await pool.query('update wfg_jobs set nonce = nonce + 1 where run_id = $1', [id]);
    await ring(pool, JSON.stringify({ v: 1, cancel: [id] }));
    await waitFor('it to be aborted', () => steps().includes('abort:lost'));
    await worker.logged('lease lost: what ran was stopped, and its result dropped');
    expect(await eventWhen(pool, id, () => true)).toMatchObject({ state: 'active', outcome: null });
  });
});

describe('the end of a worker', () => {
  // What one worker hands back is not for the next.
  beforeEach(() => pool.query('truncate wfg_jobs'));

  test('on SIGTERM lets handlers finish within the grace', async () => {
    const worker = startHandlerWorker(db.url, { SHUTDOWN_GRACE_SECS: '20' });
    await isReady(worker);
    const { id, gate, steps } = await begun('test.wait');
    worker.signal('SIGTERM');
    await worker.logged('waiting for running jobs to finish');
    const late = await enqueue(pool, 'test.print');
    await gate.open();
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(steps()).toEqual(['begin', 'end']);
    expect(await eventWhen(pool, id, () => true)).toMatchObject({ state: 'completed', tries: 1 });
    expect(await eventWhen(pool, late, () => true)).toMatchObject({ state: 'pending', attempt: -1 });
  });

  test('on SIGTERM gives up what blocks its host', async () => {
    const env = { SHUTDOWN_GRACE_SECS: '0', KILL_GRACE_SECS: '1', LEASE_TTL_SECS: '600' };
    const worker = startHandlerWorker(db.url, env);
    await isReady(worker);
    const { id } = await begun('test.block');
    worker.signal('SIGTERM');
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(await eventWhen(pool, id, () => true)).toMatchObject({
      state: 'pending',
      outcome: 'lost',
      tries: 0,
      losses: 1,
    });
  });

  test.skipIf(isDeaf)('on stop_worker lets handlers finish however long that takes', async () => {
    const worker = startHandlerWorker(db.url, { SHUTDOWN_GRACE_SECS: '0', KILL_GRACE_SECS: '0' });
    await isReady(worker);
    const { id, gate, steps } = await begun('test.wait');
    await ring(pool, 'stop_worker');
    await worker.logged('stop_worker: finishing what runs');
    const late = await enqueue(pool, 'test.print');
    await gate.open();
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(steps()).toEqual(['begin', 'end']);
    expect(await eventWhen(pool, id, () => true)).toMatchObject({ state: 'completed' });
    expect(await eventWhen(pool, late, () => true)).toMatchObject({ state: 'pending', attempt: -1 });
  });
});

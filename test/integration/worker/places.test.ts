// A worker with one place for commands and one for handlers: however what holds it comes to its end, what waits for the
// place begins soon after, in less than a lease and 5 s.
import { withTx } from '@wfg/shared/db/tx';
import { cancelJob } from '@wfg/shared/queries/cancel';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { descendantsOf } from '../../support/descendants.ts';
import { submit } from '../../support/engine.ts';
import { enqueue, eventWhen, isActive, isCompleted } from '../../support/events.ts';
import { type Gate, newGate } from '../../support/gate.ts';
import { commandLine } from '../../support/left-processes.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { startService, type TestProcess } from '../../support/process.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hostOf, jobWhen, reasonsOf, ring, startHandlerWorker } from '../../support/worker.ts';

const LEASE_SECS = 10;
const SOON_MS = (LEASE_SECS + 5) * 1_000;
const ENV = {
  LEASE_TTL_SECS: String(LEASE_SECS),
  KILL_GRACE_SECS: '1',
  WORKER_CONCURRENCY: '1',
  HANDLER_CONCURRENCY: '1',
};

let db: TestDatabase;
let reaper: TestProcess;
let worker: TestProcess;

beforeAll(async () => {
  db = await testDatabase();
  reaper = startService('reaper', { DATABASE_URL: db.url, REAP_INTERVAL_SECS: '1' });
  worker = startHandlerWorker(db.url, ENV);
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await reaper[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

async function cancel(run: string, job: string): Promise<void> {
  await withTx(db.pool, (tx) => cancelJob(tx, run, job));
  await ring(db.pool, JSON.stringify({ v: 1, cancel: [run] }));
}

async function stealLease(run: string): Promise<void> {
  await db.pool.query('update wfg_jobs set nonce = nonce + 1 where run_id = $1', [run]);
}

/** A command that waits for the place which another has. */
async function waiting(): Promise<() => Promise<unknown>> {
  const run = await submit(db.pool, { job: {} });
  await ring(db.pool);
  return () => jobWhen(db.pool, run, 'job', ({ state }) => state === 'completed', SOON_MS);
}

const cancelCommand = (run: string) => cancel(run, 'job');
const cancelEvent = (id: string) => cancel(id, 'main');
/** What a command does at first, what is done to it, and what it does then. */
const COMMANDS: {
  how: string;
  first?: string;
  strike?: (run: string) => unknown;
  last?: string;
  timeout?: number;
}[] = [
  { how: 'fails', last: 'exit 3' },
  { how: 'kills itself', last: 'kill -9 $$' },
  { how: 'kills the process that has started it', last: 'kill -9 $PPID; sleep 600' },
  { how: 'is cancelled', strike: cancelCommand, last: 'sleep 600' },
  {
    how: 'is cancelled and does not listen',
    first: `trap '' TERM`,
    strike: cancelCommand,
    last: 'sleep 600',
  },
  { how: 'takes too long', timeout: 1, last: 'sleep 600' },
  { how: 'loses its lease', strike: stealLease, last: 'sleep 600' },
];

test.for(COMMANDS)(
  'known fault 14: a command that $how frees its place',
  async ({ first = ':', strike, last, timeout }) => {
    const gate = newGate();
    const run = await submit(db.pool, { job: { run: `${first}; ${gate.wait}; ${last}`, timeout } });
    await ring(db.pool);
    await jobWhen(db.pool, run, 'job', ({ state }) => state === 'active');
    const next = await waiting();
    await strike?.(run);
    await gate.open();
    expect(await next()).toMatchObject({ attempt: 0 });
  },
);

/** Nothing can be started until it goes on: what was claimed has not begun. */
function stopSpawner(): { goOn: () => void; kill: () => void } {
  const spawner = descendantsOf(worker.pid).find((pid) => commandLine(pid).includes('spawner/main.ts'));
  if (spawner === undefined) throw new Error('there is no spawner');
  process.kill(spawner, 'SIGSTOP');
  return { goOn: () => process.kill(spawner, 'SIGCONT'), kill: () => process.kill(spawner, 'SIGKILL') };
}

const UNBORN: {
  how: string;
  strike: (run: string, spawner: ReturnType<typeof stopSpawner>) => Promise<void>;
}[] = [
  {
    how: 'cancelled',
    async strike(run, { goOn }) {
      await cancelCommand(run);
      goOn();
    },
  },
  {
    how: 'taken from its worker',
    async strike(run, { goOn }) {
      await stealLease(run);
      goOn();
    },
  },
  {
    how: 'cancelled, and cannot be started,',
    async strike(run, { kill }) {
      await cancelCommand(run);
      kill();
    },
  },
];

test.for(UNBORN)(
  'known fault 14: a command that is $how before it has begun frees its place',
  async ({ strike }) => {
    const spawner = stopSpawner();
    const run = await submit(db.pool, { job: { run: 'sleep 600' } });
    await ring(db.pool);
    await jobWhen(db.pool, run, 'job', ({ state }) => state === 'active');
    const next = await waiting();
    await strike(run, spawner);
    expect(await next()).toMatchObject({ attempt: 0 });
  },
);

test('known fault 14: a command that cannot be begun frees its place', async () => {
  const gate = newGate();
  await submit(db.pool, { job: { run: gate.wait } });
  const run = await submit(db.pool, { job: {} });
  await db.pool.query(`update wfg_jobs set spec = '{"run": 7}' where run_id = $1`, [run]);
  const next = await waiting();
  await gate.open();
  await jobWhen(db.pool, run, 'job', ({ state }) => state === 'failed');
  expect(await next()).toMatchObject({ attempt: 0 });
});

/** Events whose handler has the only place, and what is done to them. */
const EVENTS: {
  how: string;
  type: string;
  strike?: (id: string, gate: Gate) => unknown;
  timeout_secs?: number;
}[] = [
  { how: 'fails', type: 'test.throw' },
  { how: 'is cancelled', type: 'test.wait', strike: cancelEvent },
  { how: 'takes too long', type: 'test.wait', timeout_secs: 1 },
  { how: 'loses its lease', type: 'test.wait', strike: stealLease },
  { how: 'ends its process', type: 'test.exit' },
  { how: 'is cancelled and does not listen', type: 'test.deaf', strike: cancelEvent },
  {
    how: 'is killed with its process',
    type: 'test.wait',
    async strike(id, gate) {
      process.kill(await hostOf(worker, id), 'SIGKILL');
      // It is tried again, before what waits.
      await gate.open();
    },
  },
];

test.for(EVENTS)(
  'known fault 14: a handler that $how frees its place',
  async ({ type, strike, timeout_secs }) => {
    const gate = newGate();
    const options = { max_attempts: 1, ...(timeout_secs && { timeout_secs }) };
    const id = await enqueue(db.pool, type, { gate: gate.path }, options);
    if (strike) await eventWhen(db.pool, id, isActive);
    const next = await enqueue(db.pool, 'test.print');
    await strike?.(id, gate);
    expect(await eventWhen(db.pool, next, isCompleted, SOON_MS)).toMatchObject({ attempt: 0 });
  },
);

test('known fault 14: what waits behind a killed worker begins in the place of the next', async () => {
  const never = newGate();
  const run = await submit(db.pool, { job: { run: never.wait } });
  const id = await enqueue(db.pool, 'test.wait', { gate: never.path });
  await jobWhen(db.pool, run, 'job', ({ state }) => state === 'active');
  await eventWhen(db.pool, id, isActive);
  const next = await waiting();
  const event = await enqueue(db.pool, 'test.print');
  worker.signal('SIGKILL');
  await worker.ended;
  worker = startHandlerWorker(db.url, ENV);
  expect(await next()).toMatchObject({ attempt: 0 });
  expect(await eventWhen(db.pool, event, isCompleted, SOON_MS)).toMatchObject({ attempt: 0 });
});

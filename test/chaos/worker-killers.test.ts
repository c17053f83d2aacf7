// known fault 13: what kills its worker each time ends, and a cancel ends it sooner.
import { cancelJob } from '@wfg/shared/queries/cancel';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { submit } from '../support/engine.ts';
import { attemptsOf, enqueue, eventWhen, isCompleted, isFailed } from '../support/events.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startService, type TestProcess } from '../support/process.ts';
import { HOST_START_MS, jobWhen, startHandlerWorker, startWorker } from '../support/worker.ts';

let db: TestDatabase;
let reaper: TestProcess;

beforeAll(async () => {
  db = await testDatabase();
  reaper = startService('reaper', { DATABASE_URL: db.url, REAP_INTERVAL_SECS: '1' });
});

afterAll(async () => {
  await reaper[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** kill -9 of the worker: the parent of the process that started the command. */
const KILL_WORKER = `kill -9 "$(cut -d' ' -f4 /proc/$PPID/stat)"; sleep 60`;
const LOST = 'lease expired: worker w1 stopped renewing it';

/** Starts workers one after another, as a supervisor does, until one has lived to see `done`. */
async function supervise(done: Promise<unknown>): Promise<number> {
  const over = done.then(() => 'over' as const);
  for (let deaths = 0; ; deaths++) {
    const worker = startWorker(db.url, { LEASE_TTL_SECS: '2', WFG_MODULES: ',' });
    if ((await Promise.race([worker.ended, over])) !== 'over') continue;
    worker.signal('SIGKILL');
    await worker.ended;
    return deaths;
  }
}

test('known fault 13: a command that kills its worker is tried as often as it may be, and not once more', async () => {
  const retry = { max_retries: 2, backoff: 'None' } as const;
  const run = await submit(db.pool, { job: { run: KILL_WORKER, retry } });
  const failed = jobWhen(db.pool, run, 'job', ({ state }) => state === 'failed', 120_000);
  expect(await supervise(failed)).toBe(3);
  expect(await failed).toMatchObject({ attempt: 2, tries: 3, outcome: 'lost', error: LOST });
  expect(await attemptsOf(db.pool, run)).toEqual(
    [1, 2, 3].map((tried) => ({ try: tried, outcome: 'lost', error: LOST })),
  );
});

test('known fault 13: a cancel ends one that would go on killing its workers', async () => {
  const retry = { max_retries: 99, backoff: 'None' } as const;
  const run = await submit(db.pool, { job: { run: KILL_WORKER, retry } });
  const cancelled = (async () => {
    await jobWhen(db.pool, run, 'job', ({ attempt }) => attempt === 1, 60_000);
    await cancelJob(db.pool, run, 'job');
    return jobWhen(db.pool, run, 'job', ({ state }) => state === 'cancelled');
  })();
  await supervise(cancelled);
  expect((await cancelled).tries).toBeLessThan(4);
});

test('known fault 13: a handler that takes all memory is a dead letter, and its worker lives on', async () => {
  const env = { NODE_OPTIONS: '--max-old-space-size=160', LEASE_TTL_SECS: '600' };
  await using worker = startHandlerWorker(db.url, env);
  const id = await enqueue(db.pool, 'test.hoard');
  const { error, tries } = await eventWhen(db.pool, id, isFailed, 6 * HOST_START_MS);
  expect(error).toMatch(
    /^worker lost: the handler host of handlers.ts died: it ended with (SIGABRT|SIGTRAP)$/,
  );
  expect(tries).toBe(0);
  const attempts = await attemptsOf(db.pool, id);
  expect(attempts.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => 'lost'));
  const next = await enqueue(db.pool, 'test.print');
  expect(await eventWhen(db.pool, next, isCompleted, HOST_START_MS)).toMatchObject({ attempt: 0 });
  expect(worker.logs.filter(({ msg }) => msg === 'started')).toHaveLength(1);
});

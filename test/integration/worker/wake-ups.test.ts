// How many of the workers that are idle look when there is little to do, and who does when those that were to cannot.
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startScheduler } from '../../../services/scheduler/src/scheduler.ts';
import { claimsSoFar, startCrowd } from '../../support/crowd.ts';
import { states, submit } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ring } from '../../support/worker.ts';

const WORKERS = 20;
const KINDS = Array.from({ length: 10 }, (_, index) => `kind${index}`);
/** One worker for a job, and two to spare. */
const LOOKING = 3;

let db: TestDatabase;
let crowd: AsyncDisposable;

beforeAll(async () => {
  db = await testDatabase();
  crowd = await startCrowd(db.url, db.pool, WORKERS, {
    WORKER_LABELS: KINDS.join(','),
    SHUTDOWN_GRACE_SECS: '0',
  });
});

afterAll(async () => {
  await crowd[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** Rings as SQL does in the caller's transaction, which nobody follows up. */
async function ringFor(run: string): Promise<void> {
  await db.pool.query('select wfg_ring_lane(lane) from wfg_jobs where run_id = $1', [run]);
}

async function completed(run: string, job = 'a'): Promise<void> {
  await waitFor(`${job} to be done`, async () => (await states(db.pool, run))[job] === 'completed');
}

test('known fault 8: one job wakes few of twenty idle workers', async () => {
  const before = await claimsSoFar();
  const run = await submit(db.pool, { a: {} });
  await ringFor(run);
  await completed(run);
  const claims = (await claimsSoFar()) - before;
  expect(claims).toBeGreaterThan(0);
  // And the one that took it, when its place was free again.
  expect(claims).toBeLessThanOrEqual(LOOKING + 1);
});

test('ten jobs of ten kinds wake few for each', async () => {
  const before = await claimsSoFar({ why: 'bell' });
  const runs = await Promise.all(KINDS.map((label) => submit(db.pool, { a: { labels: [label] } })));
  for (const run of runs) {
    await ringFor(run);
    await completed(run);
  }
  expect((await claimsSoFar({ why: 'bell' })) - before).toBeLessThanOrEqual(LOOKING * KINDS.length);
});

test('a bell without a nonce, as of an older version, wakes everyone', async () => {
  const before = await claimsSoFar({ why: 'bell' });
  await ring(db.pool, '{"v":1,"lanes":{"1":1}}');
  await waitFor('all to look', async () => (await claimsSoFar({ why: 'bell' })) - before >= WORKERS);
  expect((await claimsSoFar({ why: 'bell' })) - before).toBe(WORKERS);
});

test('a bell for what nobody offers wakes nobody', async () => {
  const before = await claimsSoFar({ why: 'bell' });
  await ring(db.pool, '{"v":1,"lanes":{"1":1},"requires":{"1":[":command","gpu"]}}');
  // Heard after it.
  await ring(db.pool, '{"v":1,"lanes":{"1":1}}');
  await waitFor('all to look', async () => (await claimsSoFar({ why: 'bell' })) - before >= WORKERS);
  expect((await claimsSoFar({ why: 'bell' })) - before).toBe(WORKERS);
});

test('a job for which those were woken that are busy is taken by the one that is free', async () => {
  const jobs = Object.fromEntries(
    Array.from({ length: WORKERS - 1 }, (_, i) => [`j${i}`, { run: 'sleep 600' }]),
  );
  const busy = await submit(db.pool, jobs);
  await ring(db.pool);
  await waitFor('all but one to be busy', async () =>
    Object.values(await states(db.pool, busy)).every((state) => state === 'active'),
  );
  const before = await claimsSoFar({ why: 'bell', found: 'yes' });
  const claims = await claimsSoFar();
  // Nobody rings for it but the scheduler, that looks each second.
  const config = { DATABASE_URL: db.url, DATABASE_DIRECT_URL: db.url };
  const stopping = new AbortController().signal;
  const log = pino({ level: 'silent' });
  await using _ = await startScheduler({ config, log, stopping, onWait: () => undefined });
  for (let n = 0; n < 5; n++) await completed(await submit(db.pool, { a: {} }));
  expect((await claimsSoFar({ why: 'bell', found: 'yes' })) - before).toBeGreaterThan(0);
  // Those that are busy are woken, and ask for nothing. The one that is free looks also when it has done one.
  expect((await claimsSoFar()) - claims).toBeLessThanOrEqual(20);
});

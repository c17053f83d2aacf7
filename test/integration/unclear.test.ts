// Statements whose answer is lost, the connection being cut when the server has committed: each is repeated, or what it did
// is found, so that nothing is done twice and nobody waits for a lease to run out.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { createPool } from '@wfg/shared/db/pool';
import { advanceRuns } from '../../services/scheduler/src/advance-runs.ts';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { beforeAll, afterAll, beforeEach, expect, test } from 'vitest';
import { createLogSink } from '../../services/worker/src/log-sink.ts';
import { createReporter } from '../../services/worker/src/reporter.ts';
import { createSurrenderer } from '../../services/worker/src/surrender.ts';
import { isDeaf } from '../support/deaf.ts';
import { startApi } from '../support/api.ts';
import { advance, claim, claimEvent, enqueue, reportOf, states, submit } from '../support/engine.ts';
import { eventWhen, isCompleted } from '../support/events.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { jobWhen, ring, startHandlerWorker } from '../support/worker.ts';

const log = pino({ level: 'silent' });
const CLAIM = 'from candidate) as candidates';

let db: TestDatabase;
let proxy: TcpProxy;
let pool: Pool;
beforeAll(async () => {
  db = await testDatabase();
  proxy = await TcpProxy.start(db.url);
  pool = createPool({ url: proxy.url, name: 'test', log });
});
beforeEach(() => db.pool.query('delete from wfg_jobs; delete from wfg_runs'));
afterAll(async () => {
  await pool.end();
  await proxy[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const UNKNOWN = '0 1 handed_back the answer to its claim was lost';

/** What is written of the attempts of a run that are not its jobs' last. */
async function attemptsOf(run: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ text: string }>(
    `select concat_ws(' ', attempt, try, outcome, error) as text from wfg_attempts where run_id = $1 order by attempt`,
    [run],
  );
  return rows.map(({ text }) => text);
}

// It is the bell that says which claim finds something: one that looks by itself may be cut before there is a job.
test.skipIf(isDeaf)(
  'a claim: what nobody knows of is handed back uncharged, by a worker and by its handler host',
  async () => {
    await using worker = startHandlerWorker(proxy.url, { LEASE_TTL_SECS: '600' });
    await worker.logged('handlers loaded');
    const cutOfWorker = proxy.cutAnswer(CLAIM, ':command');
    const run = await submit(db.pool, { a: {} });
    await ring(db.pool);
    await cutOfWorker;
    expect(await jobWhen(db.pool, run, 'a', ({ state }) => state === 'completed')).toMatchObject({
      attempt: 1,
      tries: 1,
    });
    expect(await attemptsOf(run)).toEqual([UNKNOWN]);

    const cutOfHost = proxy.cutAnswer(CLAIM, ':event test.print');
    const id = await enqueue(db.pool, 'test.print', {});
    await ring(db.pool);
    await cutOfHost;
    expect(await eventWhen(db.pool, id, isCompleted)).toMatchObject({ attempt: 1, tries: 1 });
    expect(await attemptsOf(id)).toEqual([UNKNOWN]);
  },
);

test('a claim over HTTP without a key: the api hands it back', async () => {
  await using api = await startApi(proxy.url);
  const run = await submit(db.pool, { a: {} });
  const order = { worker_id: 'f1', labels: [], lease_ttl_secs: 600 };
  const cut = proxy.cutAnswer(CLAIM);
  expect((await api.ask('POST', '/api/jobs/claim', order)).status).toBe(503);
  await cut;
  await jobWhen(db.pool, run, 'a', ({ state }) => state === 'pending');
  expect(await attemptsOf(run)).toEqual([UNKNOWN]);
  expect(await api.ask('POST', '/api/jobs/claim', order)).toMatchObject({ status: 200 });
});

test('a result: it is told once', async () => {
  const run = await submit(db.pool, { a: { retries: 1 } });
  const [job] = await claim(db.pool);
  if (!job) throw new Error('nothing was claimed');
  await using doorbell = createDoorbell(db.pool, log);
  await using reporter = createReporter(pool, doorbell, log);
  const cut = proxy.cutAnswer('is_parked');
  const answer = reporter.report(reportOf(job, { outcome: 'failed', error: 'once' }));
  await cut;
  expect(await answer).toMatchObject({ answer: 'already' });
  expect(await attemptsOf(run)).toEqual(['0 1 failed once']);
  expect(await jobWhen(db.pool, run, 'a', ({ state }) => state === 'pending')).toMatchObject({
    attempt: 0,
    tries: 1,
  });
});

test('chunks of a log: each is stored once', async () => {
  await submit(db.pool, { a: {} });
  const [job] = await claim(db.pool);
  if (!job) throw new Error('nothing was claimed');
  await using doorbell = createDoorbell(db.pool, log);
  await using sink = createLogSink(pool, doorbell, log);
  const attemptLog = sink.open(job, job.started_at.toISOString().slice(0, 10), () => undefined);
  const cut = proxy.cutAnswer('insert into wfg_logs');
  for (const line of [1, 2, 3])
    await attemptLog.write({
      stream: 'stdout',
      line,
      lines: line,
      bytes: 2 * line,
      at: new Date(),
      data: `${line}\n`,
    });
  await cut;
  expect(await attemptLog.close()).toEqual({ chunks: 3, lines: 3, bytes: 6 });
  const { rows } = await db.pool.query<{ data: string }>(
    'select data from wfg_logs where run_id = $1 order by sequence',
    [job.run_id],
  );
  expect(rows.map(({ data }) => data)).toEqual(['1\n', '2\n', '3\n']);
});

test('a surrender: the loss counts once', async () => {
  const id = await enqueue(db.pool, 'a');
  const job = await claimEvent(db.pool, 'a');
  if (job.kind !== 'event') throw new Error('no event');
  await using doorbell = createDoorbell(db.pool, log);
  await using surrenderer = createSurrenderer(pool, doorbell, log);
  const cut = proxy.cutAnswer('lease expired: ');
  const given = surrenderer.give([{ ...job, id: 1, error: null }], 'its process died');
  await Promise.all([cut, given]);
  expect(await attemptsOf(id)).toEqual(['0 1 lost its process died']);
  const { rows } = await db.pool.query('select state, losses, tries from wfg_jobs where run_id = $1', [id]);
  expect(rows).toEqual([{ state: 'pending', losses: 1, tries: 0 }]);
});

test('a pass of the scheduler: a child is told once of each parent', async () => {
  const run = await submit(db.pool, { a: {}, b: {}, c: { needs: ['a', 'b'] } });
  const told = async () => {
    const { rows } = await db.pool.query<{ blocked_on: number }>(
      `select blocked_on from wfg_jobs where run_id = $1 and job_id = 'c'`,
      [run],
    );
    return rows[0]?.blocked_on;
  };
  await advance(db.pool);
  const [a] = await claim(db.pool, { limit: 1 });
  await using doorbell = createDoorbell(db.pool, log);
  await using reporter = createReporter(db.pool, doorbell, log);
  if (a) await reporter.report(reportOf(a));
  const cut = proxy.cutAnswer('commit\0');
  await expect(advanceRuns(pool, doorbell, log)).rejects.toThrow('Connection terminated');
  await cut;
  expect(await told()).toBe(1);
  await advanceRuns(pool, doorbell, log);
  expect(await told()).toBe(1);
  expect(await states(db.pool, run)).toEqual({ a: 'completed', b: 'pending', c: 'blocked' });
});

test('a surrender waits for no row that someone holds: the others have their answer at once', async () => {
  const ids = [await enqueue(db.pool, 'a'), await enqueue(db.pool, 'a'), await enqueue(db.pool, 'a')];
  const [first, second, third] = [
    await claimEvent(db.pool, 'a'),
    await claimEvent(db.pool, 'a'),
    await claimEvent(db.pool, 'a'),
  ].map((job, id) => {
    if (job.kind !== 'event') throw new Error('no event');
    return { ...job, id, error: null };
  });
  if (!first || !second || !third) throw new Error('nothing was claimed');
  const lost = () => Promise.all(ids.map(async (id) => (await attemptsOf(id)).length));
  await using doorbell = createDoorbell(db.pool, log);
  await using surrenderer = createSurrenderer(pool, doorbell, log);
  const holder = await db.pool.connect();
  await holder.query('begin');
  await holder.query('select from wfg_jobs where run_id = $1 for update', [first.run_id]);
  const given = surrenderer.give([first, second], 'its process died');
  await surrenderer.give([third], 'its process died');
  await waitFor('the others', async () => String(await lost()) === '0,1,1');
  const { rows } = await db.pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  expect(rows).toEqual([]);
  await holder.query('rollback');
  holder.release();
  await given;
  expect(await lost()).toEqual([1, 1, 1]);
});

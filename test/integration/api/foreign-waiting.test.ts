// Claims over HTTP that wait: they get a job when there is one, hold nobody up, and end with their client and the api.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { hears } from '../../support/deaf.ts';
import { states, submit } from '../../support/engine.ts';
import { listener } from '../../support/ear.ts';
import { claimedHttp, claimHttp, emptyTables, startGraph, tell } from '../../support/foreign.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ring } from '../../support/worker.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url);
  await hears(api);
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

beforeEach(() => emptyTables(db.pool));

/** Until so many have been heard of: from then on their claims wait. */
async function known(count: number): Promise<void> {
  await waitFor(`${count} workers to claim`, async () => {
    const { rows } = await db.pool.query<{ count: number }>('select count(*)::int from wfg_workers');
    return rows[0]?.count === count;
  });
}

test('a claim waits for a job that fits, and nobody else gets it', async () => {
  const claims = ['cpu', 'gpu', 'cpu'].map((label, n) =>
    claimHttp(api, { worker_id: `f${n}`, labels: [label], wait_secs: n === 1 ? 30 : 3 }),
  );
  await known(3);
  await startGraph(api, [{ id: 'a', required_labels: ['gpu'] }]);
  const [none, claimed, also] = await Promise.all(claims);
  expect([none, also]).toEqual([null, null]);
  expect(claimed).toMatchObject({ job: { job_id: 'a', attempt: 0 }, lease: { worker_id: 'f1' } });
});

test('many that wait hold up nobody, and each gets a job when there are as many', async () => {
  let ended = 0;
  // More than requests are worked on at once.
  const claims = Array.from({ length: 40 }, (_, n) =>
    claimHttp(api, { worker_id: `f${n}`, wait_secs: 30 }).finally(() => ended++),
  );
  await known(40);
  expect((await api.ask('GET', '/api/runs')).status).toBe(200);
  expect(ended).toBe(0);
  await startGraph(
    api,
    Array.from({ length: 40 }, (_, n) => ({ id: `j${n}` })),
  );
  const claimed = await Promise.all(claims);
  expect(new Set(claimed.map((one) => one?.job.job_id)).size).toBe(40);
});

test('a job whose claim nobody waits for any more is given back, its try unspent', async () => {
  await startGraph(api, [{ id: 'a' }]);
  const locker = await db.pool.connect();
  await locker.query('begin; lock table wfg_jobs in share mode');
  const leaving = new AbortController();
  const claim = fetch(`${api.url}/api/jobs/claim`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ worker_id: 'f1', labels: [] }),
    signal: leaving.signal,
  });
  await waitFor('the claim to wait for the lock', async () => {
    const { rows } = await db.pool.query<{ waits: boolean }>(
      `select exists (select from pg_locks where not granted and relation = 'wfg_jobs'::regclass) as waits`,
    );
    return rows[0]?.waits;
  });
  leaving.abort();
  await expect(claim).rejects.toThrow('aborted');
  await api.ask('GET', '/api/workers');
  await locker.query('commit');
  locker.release();
  await waitFor('the job to be back', async () => {
    const { rows } = await db.pool.query('select state, attempt, tries from wfg_jobs');
    return JSON.stringify(rows) === JSON.stringify([{ state: 'pending', attempt: 0, tries: 0 }]);
  });
  expect((await claimedHttp(api)).job).toMatchObject({ attempt: 1, try: 1 });
});

test.each([
  ['fails for now', 'fail', { error: 'x', retryable: true }],
  ['fails for good', 'fail', { error: 'x' }],
  ['completes', 'complete', { outputs: {} }],
])('those that wait are rung for when a job %s, if it may be claimed again', async (_, what, report) => {
  await startGraph(api, [{ id: 'a', max_retries: 1, required_labels: ['gpu'] }]);
  const claimed = await claimedHttp(api, { labels: ['gpu'] });
  await using ear = await listener(db.url);
  const { body } = await tell(api, claimed, what, report);
  const bell = await waitFor('the end to be rung', () => ear.bells.find(({ settle }) => settle));
  expect(Object.values(bell.lanes ?? {})).toEqual(Object(body).state === 'pending' ? [1] : []);
});

test('an api that stops answers what waits', async () => {
  await using other = await startApi(db.url);
  const claim = claimHttp(other, { wait_secs: 30 });
  await known(1);
  other.signal('SIGTERM');
  expect(await claim).toBeNull();
  expect(await other.ended).toMatchObject({ code: 0 });
});

test('a claim without a database is sent away, also one that waits when it looks', async () => {
  await using proxy = await TcpProxy.start(db.url);
  await using other = await startApi(proxy.url);
  await claimHttp(other);
  await proxy.close();
  const claim = await other.ask('POST', '/api/jobs/claim', { worker_id: 'f1', labels: [], wait_secs: 30 });
  expect(claim).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(claim.headers.get('retry-after')).toMatch(/^\d+$/);
});

test('who has lost the right to claim while waiting is given nothing', async () => {
  await using guarded = await testDatabase();
  const { pool } = guarded;
  await using other = await startApi(guarded.url, { WFG_ADMIN_TOKEN: 'a-token-of-a-test' });
  await hears(other);
  const order = { worker_id: 'f1', labels: [], wait_secs: 30 };
  expect(await other.ask('POST', '/api/jobs/claim', order)).toMatchObject({ status: 401 });
  const claim = other.ask('POST', '/api/jobs/claim', order, { authorization: 'Bearer a-token-of-a-test' });
  await waitFor('the claim to wait', async () => {
    const { rowCount } = await pool.query('select from wfg_workers');
    return rowCount === 1;
  });
  await pool.query('update wfg_tokens set revoked_at = wfg_now()');
  await ring(pool, '{"v":1,"tokens":true}');
  const run = await submit(pool, { a: {} });
  await ring(pool);
  expect(await claim).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
  expect(await states(pool, run)).toEqual({ a: 'pending' });
});

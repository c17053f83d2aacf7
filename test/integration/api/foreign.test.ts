// Workers over HTTP: what they are given, and what becomes of what they report.
import { Claimed } from '@wfg/shared/contract/queued-job';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { advance, moveClock } from '../../support/engine.ts';
import { claimedHttp, claimHttp, emptyTables, startGraph, tell } from '../../support/foreign.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url);
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

beforeEach(() => emptyTables(db.pool));

const start = (...jobs: Record<string, unknown>[]) => startGraph(api, jobs);

async function shown(id: string): Promise<Record<string, unknown>> {
  const { body } = await api.ask('GET', '/api/workflows/w/status');
  return Object(body).jobs.find((one: { id: string }) => one.id === id);
}

/** The lease on a job that runs. */
async function leaseOf(id: string): Promise<Pick<Claimed, 'lease'>> {
  const { rows } = await db.pool.query<{ lease_id: string }>(
    `select run_id || '-' || position || '.' || attempt || '.' || nonce as lease_id from wfg_jobs where job_id = $1`,
    [id],
  );
  const [row] = rows;
  if (!row) throw new Error(`there is no job ${id}`);
  const lease = { ...row, job_id: id, workflow_id: 'w', worker_id: 'f1', ttl_secs: 30, granted_at_ms: 0 };
  return { lease };
}

/** Claims until nothing is left, and says what came, in order. */
async function claimAll(labels: string[] = []): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const claimed = await claimHttp(api, { labels });
    if (!claimed) return ids;
    ids.push(claimed.job.job_id);
  }
}

describe('the claim', () => {
  test('gives nobody a job whose command cannot be read, and fails it', async () => {
    await start({ id: 'a', command: 'true' });
    await db.pool.query(`update wfg_jobs set spec = '{"run": 7}'`);
    expect(await claimHttp(api, { labels: [] })).toBeNull();
    const { rows } = await db.pool.query('select state, error from wfg_jobs');
    expect(rows).toEqual([
      { state: 'failed', error: expect.stringContaining('expected string, received number') },
    ]);
  });

  test('has the job and a lease, whole', async () => {
    const run = await start({ id: 'a', command: 'echo "a"', required_labels: ['gpu'], max_retries: 2 });
    const claimed = await claimedHttp(api, { labels: ['linux', 'gpu'] });
    expect(claimed).toEqual({
      job: {
        job_id: 'a',
        workflow_id: 'w',
        command: 'echo "a"',
        required_labels: ['gpu'],
        retry_policy: { max_retries: 2, backoff: 'None' },
        attempt: 0,
        upstream_outputs: {},
        enqueued_at_ms: expect.any(Number),
        delayed_until_ms: 0,
        run_id: run,
        kind: 'command',
        workflow_type: null,
        payload: null,
        try: 1,
        timeout_secs: null,
      },
      lease: {
        lease_id: expect.stringMatching(new RegExp(`^${run}-1\\.0\\.\\d+$`)),
        job_id: 'a',
        workflow_id: 'w',
        worker_id: 'f1',
        ttl_secs: 30,
        granted_at_ms: expect.any(Number),
      },
    });
    expect(Claimed.parse(claimed)).toEqual(claimed);
    expect(await claimHttp(api, { labels: ['gpu'] })).toBeNull();
  });

  test('gives what the worker has all labels for, in order, and passes over the rest', async () => {
    await start(
      { id: 'gpu', required_labels: ['gpu', 'linux'] },
      { id: 'a' },
      { id: 'linux', required_labels: ['linux'] },
      { id: 'b' },
    );
    expect(await claimAll()).toEqual(['a', 'b']);
    expect(await claimAll(['gpu'])).toEqual([]);
    expect(await claimAll(['gpu', 'linux', 'x'])).toEqual(['gpu', 'linux']);
  });

  test('gives each job to one of many who claim at once', async () => {
    await start(...Array.from({ length: 10 }, (_, n) => ({ id: `j${n}` })));
    const claims = Array.from({ length: 25 }, (_, n) => claimHttp(api, { worker_id: `f${n}` }));
    const claimed = (await Promise.all(claims)).flatMap((one) => one?.job.job_id ?? []);
    expect(claimed.toSorted()).toEqual(Array.from({ length: 10 }, (_, n) => `j${n}`));
  });

  test('has environment and steps in its command', async () => {
    await api.ask('PUT', '/api/workflows/w', {
      name: 'w',
      env: { A: "it's", B: '1' },
      jobs: {
        a: { env: { B: '2' }, timeout: 60, steps: [{ name: 'one', run: 'echo 1' }, { run: 'echo 2' }] },
      },
    });
    await api.ask('POST', '/api/workflows/w/run');
    const { job } = await claimedHttp(api);
    expect(job.timeout_secs).toBe(60);
    expect(job.command).toContain("export A='it'\\''s'\nexport B='2'\n");
    expect(job.command).toMatch(/=== one ===[^]*echo 1[^]*=== step 2 ===[^]*echo 2/);
  });

  test('names a run of no stored workflow by its own id', async () => {
    const { body } = await api.ask('POST', '/api/runs', { name: 'inline', jobs: { a: { run: 'true' } } });
    const { run_id } = Object(body);
    const claimed = await claimedHttp(api);
    expect(claimed).toMatchObject({ job: { workflow_id: run_id }, lease: { workflow_id: run_id } });
    await api.ask('POST', `/api/runs/${run_id}/cancel`);
    expect((await api.ask('GET', `/api/jobs/${run_id}/a/cancelled`)).body).toBe(true);
  });

  test.each([
    [{}, 'worker_id'],
    [{ worker_id: 'a b', labels: [] }, 'worker_id'],
    [{ worker_id: 'f1', labels: 'gpu' }, 'labels'],
    [{ worker_id: 'f1', labels: [':event user.created'] }, 'labels.0'],
    [{ worker_id: 'f1', labels: [], lease_ttl_secs: 0 }, 'lease_ttl_secs'],
    [{ worker_id: 'f1', labels: [], wait_secs: 31 }, 'wait_secs'],
    [{ worker_id: 'f1', labels: [], wait_sec: 1 }, 'wait_sec'],
  ])('refuses %j', async (body, path) => {
    const { status, body: problem } = await api.ask('POST', '/api/jobs/claim', body);
    expect({ status, path: Object(problem).errors[0].path }).toEqual({ status: 422, path });
  });
});

describe('a result', () => {
  test('is taken with its outputs, once, and may be repeated', async () => {
    await start(
      { id: 'a' },
      { id: 'b', depends_on: ['a', 'c'] },
      { id: 'c' },
      { id: 'd', depends_on: ['b'] },
    );
    const a = await claimedHttp(api);
    const c = await claimedHttp(api);
    const large = 'x'.repeat(100_000);
    const done = { status: 200, body: { state: 'completed' } };
    expect(
      await tell(api, a, 'complete', { outputs: { version: '1.2', large, 'nul\0': 'a\0b\ud800' } }),
    ).toEqual(done);
    expect(await tell(api, a, 'complete', { outputs: { version: '9' } })).toEqual(done);
    expect(await tell(api, c, 'complete')).toEqual(done);
    await advance(db.pool);
    const b = await claimedHttp(api);
    expect(b.job.upstream_outputs).toEqual({ a: { version: '1.2', large, 'nul␀': 'a␀b\ufffd' }, c: {} });
    await tell(api, b, 'complete', { outputs: { own: 'b' } });
    await advance(db.pool);
    expect((await claimedHttp(api)).job.upstream_outputs).toEqual({ b: { own: 'b' } });
    expect(await tell(api, a, 'heartbeat')).toMatchObject({ status: 409, body: { code: 'lease_lost' } });
  });

  test('is refused with outputs that are no text, or too much', async () => {
    await start({ id: 'a' });
    const a = await claimedHttp(api);
    expect(await tell(api, a, 'complete', { outputs: { n: 1 } })).toMatchObject({ status: 422 });
    const over = { outputs: { k: 'ä'.repeat(524_288) } };
    expect(await tell(api, a, 'complete', over)).toMatchObject({
      status: 422,
      body: { code: 'invalid_body' },
    });
    expect(await tell(api, a, 'complete', { outputs: { k: 'ä'.repeat(524_287) } })).toMatchObject({
      status: 200,
    });
  });

  test('that is a failure is tried again within the budget, and skips what depends on it when that is spent', async () => {
    await start(
      { id: 'a', max_retries: 1 },
      { id: 'b', depends_on: ['a'] },
      { id: 'c', depends_on: ['b'] },
      { id: 'd' },
    );
    const failed = { error: 'exit code 3: no\0', retryable: true };
    const first = await claimedHttp(api);
    expect((await tell(api, first, 'fail', failed)).body).toEqual({ state: 'pending' });
    expect((await tell(api, first, 'fail', failed)).body).toEqual({ state: 'pending' });
    expect(await shown('a')).toMatchObject({ status: 'queued', output: null });
    expect(await claimAll()).toEqual(['d', 'a']);
    expect(await shown('a')).toMatchObject({ status: 'running', attempt: 1 });
    expect((await tell(api, first, 'fail', failed)).body).toEqual({ state: 'pending' });
    const again = await leaseOf('a');
    expect((await tell(api, again, 'fail', failed)).body).toEqual({ state: 'failed' });
    await advance(db.pool);
    expect(await shown('a')).toMatchObject({ status: 'failure', attempt: 1, output: 'exit code 3: no␀' });
    expect((await tell(api, again, 'fail', failed)).body).toEqual({ state: 'failed' });
    expect([await shown('b'), await shown('c'), await shown('d')]).toMatchObject([
      { status: 'skipped' },
      { status: 'skipped' },
      { status: 'running' },
    ]);
    expect(await claimAll()).toEqual([]);
  });

  test('that no other try may mend is final', async () => {
    await start({ id: 'a', max_retries: 5 });
    await tell(api, await claimedHttp(api), 'fail', { error: 'no such host' });
    await advance(db.pool);
    expect(await shown('a')).toMatchObject({ status: 'failure', output: 'no such host', attempt: 0 });
  });

  test('a retry keeps labels and waits as long as the job says', async () => {
    const backoff = { Exponential: { base_secs: 10, max_secs: 15 } };
    const a = { run: 'true', needs: 'r', labels: ['gpu'], retry: { max_retries: 2, backoff } };
    await api.ask('PUT', '/api/workflows/w', { name: 'w', jobs: { r: { run: 'true' }, a } });
    await api.ask('POST', '/api/workflows/w/run');
    await tell(api, await claimedHttp(api), 'complete');
    await advance(db.pool);
    for (const [soon, due] of [
      ['9 s', '11 s'],
      ['25 s', '27 s'],
    ]) {
      const { job, lease } = await claimedHttp(api, { labels: ['gpu'] });
      expect(job.retry_policy).toEqual({ max_retries: 2, backoff });
      await tell(api, { lease }, 'fail', { error: 'x', retryable: true });
      await moveClock(db.pool, String(soon));
      expect(await claimHttp(api, { labels: ['gpu'] })).toBeNull();
      await moveClock(db.pool, String(due));
      expect(await claimHttp(api)).toBeNull();
    }
    expect((await claimedHttp(api, { labels: ['gpu'] })).job).toMatchObject({ attempt: 2, try: 3 });
  });
});

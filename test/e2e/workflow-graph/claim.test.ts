// Claims, and the leases that they give: rows 32 to 39.
import { setTimeout as pause } from 'node:timers/promises';
import type { Claimed } from '@wfg/shared/contract/queued-job';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startWalk, type Walk } from '../../support/graph-user.ts';
import { startService } from '../../support/process.ts';
import { waitFor } from '../../support/wait-for.ts';

let walk: Walk;

/** A reaper is there where a test starts one. */
beforeAll(async () => {
  walk = await startWalk({ counts: { reaper: 0, worker: 0 } });
});

afterAll(() => walk[Symbol.asyncDispose]());
afterEach(() => walk.leave());

const LOST = { status: 409, body: { code: 'lease_lost' } };
const startReaper = () => startService('reaper', { DATABASE_URL: walk.db.url, REAP_INTERVAL_SECS: '1' });

/** Until the lease is over by the database's clock. */
const expiry = ({ lease }: Claimed) =>
  waitFor('the lease to be over', async () => {
    const over = 'select extract(epoch from wfg_now()) * 1000 > $1::bigint as over';
    const { rows } = await walk.db.pool.query(over, [lease.granted_at_ms + lease.ttl_secs * 1000]);
    return rows[0].over;
  });

/** Beats until it is told to stop, and says then what the beats were answered with. */
function keepBeating(claimed: Claimed): () => Promise<Set<number>> {
  const stopping = new AbortController();
  const answers = new Set<number>();
  const beating = (async () => {
    while (!stopping.signal.aborted) {
      answers.add((await walk.tell(claimed, 'heartbeat')).status);
      await pause(100);
    }
  })();
  return async () => {
    stopping.abort();
    await beating;
    return answers;
  };
}

test('32: of many who claim at once each gets another job, and the rest nothing', async () => {
  const { run } = await walk.start(...Array.from({ length: 12 }, (_, n) => ({ id: `job-${n}` })));
  const claims = Array.from({ length: 40 }, (_, n) => walk.claim({ worker_id: `w${n}` }));
  const got = (await Promise.all(claims)).filter((claimed) => claimed !== null);
  expect(new Set(got.map(({ job }) => job.job_id)).size).toBe(12);
  expect(got).toHaveLength(12);
  expect(new Set(got.map(({ lease }) => lease.lease_id)).size).toBe(12);
  const { body } = await walk.ask('GET', `/api/runs/${run}`);
  const holders = Object.fromEntries(got.map(({ job, lease }) => [job.job_id, lease.worker_id]));
  for (const job of Object(body).jobs) expect(job.worker_id).toBe(holders[job.job_id]);
});

test('33: a claim is answered with job and lease, or null, both with 200', async () => {
  expect(await walk.ask('POST', '/api/jobs/claim', { worker_id: 'w', labels: [] })).toMatchObject({
    status: 200,
    body: null,
  });
  const { id } = await walk.start({ id: 'a', command: 'echo "a"', max_retries: 2, required_labels: ['gpu'] });
  const { status, body } = await walk.ask('POST', '/api/jobs/claim', { worker_id: 'w', labels: ['gpu'] });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    job: {
      job_id: 'a',
      workflow_id: id,
      command: 'echo "a"',
      required_labels: ['gpu'],
      retry_policy: { max_retries: 2, backoff: 'None' },
      attempt: 0,
      upstream_outputs: {},
      enqueued_at_ms: expect.any(Number),
      delayed_until_ms: 0,
    },
    lease: {
      lease_id: expect.any(String),
      job_id: 'a',
      workflow_id: id,
      worker_id: 'w',
      ttl_secs: 30,
      granted_at_ms: expect.any(Number),
    },
  });
  for (const bad of [{}, { worker_id: 'w' }, { worker_id: 'w', labels: 'gpu' }, { worker_id: 7, labels: [] }])
    expect([bad, (await walk.ask('POST', '/api/jobs/claim', bad)).status]).toEqual([bad, 422]);
});

test('34, 35, 36: a lease holds as long as was asked for, 30 s by default, and is renewed by that', async () => {
  await walk.start({ id: 'default' }, { id: 'kept' }, { id: 'left', max_retries: 2 });
  const byDefault = await walk.claimed();
  expect(byDefault.lease.ttl_secs).toBe(30);
  const kept = await walk.claimed({ lease_ttl_secs: 3 });
  expect(kept.lease.ttl_secs).toBe(3);
  const stopBeating = keepBeating(kept);
  await using _ = startReaper();
  // One that nobody renews is taken back three times meanwhile, after more than a second each.
  for (let attempt = 0; attempt < 3; attempt++) {
    const left = await walk.claimed({ lease_ttl_secs: 1 });
    expect(left.job).toMatchObject({ job_id: 'left', attempt });
    await waitFor(
      'the lease to be lost',
      async () => (await walk.tell(left, 'logs', { chunks: [] })).status === 409,
    );
    expect(await walk.tell(left, 'heartbeat')).toMatchObject(LOST);
  }
  expect(await stopBeating()).toEqual(new Set([200]));
  expect((await walk.tell(kept, 'logs', { chunks: [] })).status).toBe(200);
  // As short as it was claimed, not the default.
  await waitFor('it to be lost', async () => (await walk.tell(kept, 'logs', { chunks: [] })).status === 409);
  expect((await walk.tell(byDefault, 'heartbeat')).status).toBe(200);
});

test('34: a time that no lease can have is refused', async () => {
  for (const lease_ttl_secs of [0, -1, 1.5, '30', 1e9]) {
    const body = { worker_id: 'w', labels: [], lease_ttl_secs };
    expect([lease_ttl_secs, (await walk.ask('POST', '/api/jobs/claim', body)).status]).toEqual([
      lease_ttl_secs,
      422,
    ]);
  }
});

test('37: a lease that has expired is not renewed; until it is taken back its result counts', async () => {
  const { id } = await walk.start({ id: 'a' }, { id: 'b' });
  const [a, b] = [await walk.claimed({ lease_ttl_secs: 1 }), await walk.claimed({ lease_ttl_secs: 1 })];
  await expiry(b);
  expect(await walk.tell(a, 'heartbeat')).toMatchObject(LOST);
  expect(await walk.tell(a, 'complete')).toMatchObject({ status: 200, body: { state: 'completed' } });
  expect(await walk.tell(b, 'fail', { error: 'no' })).toMatchObject({
    status: 200,
    body: { state: 'failed' },
  });
  expect(await walk.statuses(id)).toEqual({ a: 'success', b: 'failure' });
});

test('38: who has lost the job to another worker changes nothing any more', async () => {
  const { id, run } = await walk.start({ id: 'a', max_retries: 1 });
  const first = await walk.claimed({ worker_id: 'w1', lease_ttl_secs: 1 });
  await using _ = startReaper();
  const second = await walk.claimed({ worker_id: 'w2' });
  expect(second.job).toMatchObject({ job_id: 'a', attempt: 1 });
  const reports = [
    ['complete', { outputs: { by: 'w1' } }],
    ['fail', { error: 'by w1' }],
    ['heartbeat', undefined],
    ['logs', { chunks: [] }],
  ] as const;
  for (const [what, body] of reports) expect(await walk.tell(first, what, body)).toMatchObject(LOST);
  expect(await walk.statuses(id)).toEqual({ a: 'running' });
  expect((await walk.tell(second, 'complete', { outputs: { by: 'w2' } })).status).toBe(200);
  for (const [what, body] of reports) expect(await walk.tell(first, what, body)).toMatchObject(LOST);
  expect((await walk.ask('GET', `/api/runs/${run}/jobs/a/outputs`)).body).toEqual({ by: 'w2' });
});

test('38: a lease that never was is lost too', async () => {
  await walk.start({ id: 'a' });
  const { lease } = await walk.claimed();
  const forged = [`${lease.lease_id}0`, lease.lease_id.replace(/\d$/, (n) => String((Number(n) + 1) % 10))];
  for (const lease_id of [...forged, 'x', crypto.randomUUID(), '%00'])
    expect(await walk.tell({ lease: { ...lease, lease_id } }, 'complete')).toMatchObject(LOST);
  expect((await walk.tell({ lease }, 'heartbeat')).status).toBe(200);
});

test('39: to repeat one’s own report is safe, also at once and when the run has ended', async () => {
  const { id, run } = await walk.start({ id: 'a' }, { id: 'b', max_retries: 1 });
  const [a, b] = [await walk.claimed(), await walk.claimed()];
  const completed = { status: 200, body: { state: 'completed' } };
  const both = Array.from({ length: 5 }, () => walk.tell(a, 'complete', { outputs: { x: '1' } }));
  for (const answer of await Promise.all(both)) expect(answer).toEqual(completed);
  const failure = { error: 'no', retryable: true };
  const fails = Array.from({ length: 5 }, () => walk.tell(b, 'fail', failure));
  for (const answer of await Promise.all(fails))
    expect(answer).toEqual({ status: 200, body: { state: 'pending' } });
  const again = await walk.claimed();
  expect(again.job).toMatchObject({ job_id: 'b', attempt: 1 });
  expect(await walk.claim()).toBeNull();
  expect((await walk.tell(b, 'fail', failure)).status).toBe(200);
  expect(await walk.tell(again, 'complete')).toEqual(completed);
  await waitFor('the run to end', async () => {
    const { body } = await walk.ask('GET', `/api/runs/${run}`);
    return Object(body).status === 'completed';
  });
  expect(await walk.tell(a, 'complete', { outputs: { x: '2' } })).toEqual(completed);
  expect(await walk.tell(again, 'complete')).toEqual(completed);
  expect(await walk.statuses(id)).toEqual({ a: 'success', b: 'success' });
  expect((await walk.ask('GET', `/api/runs/${run}/jobs/a/outputs`)).body).toEqual({ x: '1' });
});

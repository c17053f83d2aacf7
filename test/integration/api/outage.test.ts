import { expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { reasonsOf } from '../../support/worker.ts';

async function expectUnavailable(api: TestApi, ...asked: Parameters<TestApi['ask']>): Promise<void> {
  const since = performance.now();
  const answer = await api.ask(...asked);
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(performance.now() - since).toBeLessThan(3_000);
}

test('while the database is away requests get 503 in time, and are served again when it is back', async () => {
  await using db = await testDatabase();
  await using proxy = await TcpProxy.start(db.url);
  await using api = await startApi(proxy.url);
  // Twelve at once: connections are open, and more are wanted than the pool has.
  const many = () => Promise.all(Array.from({ length: 12 }, () => api.ask('GET', '/api/runs')));
  await many();

  proxy.stall();
  await Promise.all([
    expectUnavailable(api, 'GET', '/api/runs'),
    expectUnavailable(api, 'POST', '/api/workflows/ci-1/run'),
  ]);
  // More than are worked on at once.
  let answered = false;
  const stuck = Promise.all(Array.from({ length: 40 }, () => api.ask('GET', '/api/runs')));
  void stuck.then(() => (answered = true));
  const late = api.ask('DELETE', '/api/workflows/ci-1');
  expect(await api.ask('GET', '/health')).toMatchObject({ status: 200 });
  expect(await api.ask('GET', '/openapi.json')).toMatchObject({ status: 200 });
  expect(answered).toBe(false);
  for (const { status } of [...(await stuck), await late]) expect(status).toBe(503);
  proxy.unstall();
  proxy.cut();
  await expect.poll(async () => (await api.ask('GET', '/api/runs')).status, { timeout: 10_000 }).toBe(200);
  // What was told that it was not served is not served later either.
  const { body } = await api.ask('GET', '/api/workflows');
  expect(body).toMatchObject([{ id: 'ci-1' }]);

  await proxy.close();
  await expectUnavailable(api, 'GET', '/api/workflows');
  await expect
    .poll(() => api.ask('GET', '/ready'))
    .toMatchObject({
      status: 503,
      body: { ready: false, reasons: expect.arrayContaining([expect.stringContaining('deaf')]) },
    });
  await proxy.open();
  await expect.poll(async () => (await api.ask('GET', '/api/runs')).status, { timeout: 10_000 }).toBe(200);
  await expect.poll(() => reasonsOf(api), { timeout: 10_000 }).toEqual([]);
});

test('while the database is frozen a token is not waited for longer than anything else', async () => {
  await using db = await testDatabase();
  await using proxy = await TcpProxy.start(db.url);
  await using api = await startApi(proxy.url, { WFG_ADMIN_TOKEN: 'a-token-of-a-test' });
  const order = { worker_id: 'f1', labels: [], wait_secs: 30 };
  const ask = (token: string, method: string, path: string, body?: unknown) =>
    expectUnavailable(api, method, path, body, { authorization: `Bearer ${token}` });
  const right = 'a-token-of-a-test';
  const known = { authorization: `Bearer ${right}` };
  expect(await api.ask('POST', '/api/jobs/claim', { ...order, wait_secs: 0 }, known)).toMatchObject({
    status: 200,
  });
  proxy.stall();
  await Promise.all([
    ask(right, 'POST', '/api/jobs/claim', order),
    ask('another-token-that-is-new', 'POST', '/api/jobs/claim', order),
    ask('another-token-that-is-new', 'GET', '/api/runs'),
    expectUnavailable(api, 'POST', '/api/session', { token: 'another-token-that-is-new' }),
  ]);
  proxy.unstall();
  proxy.cut();
});

test('a slow statement is not taken for an outage', async () => {
  await using db = await testDatabase();
  await using api = await startApi(db.url);
  const locker = await db.pool.connect();
  await locker.query('begin; lock table wfg_workflows in exclusive mode');
  const answer = api.ask('POST', '/api/workflows/ci-1/run');
  // It is late, and asks whether the database is there; twice, so the first answer did not end it.
  const questions = new Set<string>();
  await waitFor('the api to ask twice', async () => {
    const { rows } = await db.pool.query<{ at: string }>(
      `select query_start::text as at from pg_stat_activity where application_name = 'wfg-api-check'`,
    );
    for (const { at } of rows) questions.add(at);
    return questions.size >= 2;
  });
  await locker.query('rollback');
  locker.release();
  expect((await answer).status).toBe(202);
});

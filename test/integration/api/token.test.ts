// Who may use the api: with a token, without one, with a wrong one; on one copy of the api and on two.
import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Answer, startApi, type TestApi } from '../../support/api.ts';
import { testDatabase } from '../../support/postgres.ts';
import { startService } from '../../support/process.ts';
import { closeCode, dial, handshake } from '../../support/socket.ts';
import { ring } from '../../support/worker.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';

const TOKEN = 'a-token-for-tests-1';
const OTHER = 'a-token-for-tests-2';
/** What an api rings that changes something about tokens. */
const BELL = '{"v":1,"tokens":true}';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const statusOf = async (api: TestApi, token: string | undefined, path = '/api/runs') =>
  (await api.ask('GET', path, undefined, token === undefined ? {} : bearer(token))).status;

const Security = z.array(z.record(z.string(), z.array(z.string())));
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.object({ security: Security.optional() }))),
  security: Security,
});

function isRefusal({ status, headers, body }: Answer): boolean {
  return (
    status === 401 && headers.get('www-authenticate') === 'Bearer' && Object(body).code === 'unauthorized'
  );
}

/** The status for what calls the server by another name, as a proxy may; fetch does not let that be set. */
async function postAs(
  host: string,
  url: string,
  headers: Record<string, string>,
): Promise<number | undefined> {
  const asking = request(url.replace('0.0.0.0', '127.0.0.1'), {
    method: 'POST',
    headers: { host, ...headers },
  });
  asking.end();
  const [answer] = await once(asking, 'response');
  answer.resume();
  return answer.statusCode;
}

test('with a token every route asks for it, but for what is the same for everyone', async () => {
  await using db = await testDatabase();
  await using api = await startApi(db.url, { WFG_ADMIN_TOKEN: TOKEN });
  const { body } = await api.ask('GET', '/openapi.json');
  const { paths, security } = Document.parse(body);
  expect(security).toEqual([{ token: [] }]);
  const open: string[] = [];
  for (const [path, routes] of Object.entries(paths)) {
    for (const [method, route] of Object.entries(routes)) {
      const answer = await api.ask(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'));
      expect(`${path} ${isRefusal(answer)}`).toBe(`${path} ${route.security === undefined}`);
      if (route.security?.length === 0) open.push(`${method} ${path}`);
    }
  }
  expect(Object.keys(paths).length).toBeGreaterThan(15);
  expect(open.toSorted()).toEqual([
    'delete /api/session',
    'get /api/session',
    'get /health',
    'get /ready',
    'post /api/session',
  ]);
  for (const path of ['/docs', '/', '/runs/x']) {
    expect((await api.ask('GET', path, undefined, { accept: 'text/html' })).status).toBe(200);
  }
  expect(await statusOf(api, TOKEN)).toBe(200);
  expect(await statusOf(api, OTHER)).toBe(401);
  expect((await api.ask('POST', '/api/workflows/ci-1/run', undefined, bearer(TOKEN))).status).toBe(202);
  expect((await fetch(`${api.url}/api/runs`, { method: 'HEAD' })).status).toBe(401);
});

test('neither the token nor the configuration that holds it is told', async () => {
  await using db = await testDatabase();
  await using api = await startApi(db.url, { WFG_ADMIN_TOKEN: TOKEN, LOG_LEVEL: 'trace' });
  expect(await statusOf(api, TOKEN)).toBe(200);
  expect(await statusOf(api, OTHER)).toBe(401);
  expect(JSON.stringify(api.logs)).not.toMatch(/a-token-for-tests/);
  const { rows } = await db.pool.query<{ row: string }>('select t::text as row from wfg_tokens t');
  expect(rows).toHaveLength(1);
  expect(rows[0]?.row).toContain('WFG_ADMIN_TOKEN,admin,');
  expect(rows[0]?.row).not.toContain(TOKEN);
});

test('a weak token is refused at start, with advice', async () => {
  await using db = await testDatabase();
  const api = startService('api', { DATABASE_URL: db.url, WFG_ADMIN_TOKEN: 'secret' });
  expect(await api.ended).toEqual({ code: 2, signal: null });
  expect(api.logs).toEqual([
    {
      msg: 'WFG_ADMIN_TOKEN must be 16 to 1,024 visible ASCII characters: make one by "openssl rand -hex 32"',
    },
  ]);
});

test('a HOST beyond loopback is refused without a token, and is fine with one, under any name', async () => {
  await using db = await testDatabase();
  const refused = startService('api', { DATABASE_URL: db.url, HOST: '0.0.0.0' });
  expect(await refused.ended).toEqual({ code: 2, signal: null });
  const why = 'HOST 0.0.0.0 lets others in, and no token is asked for: set WFG_ADMIN_TOKEN';
  expect(await refused.logged(why)).not.toHaveProperty('err');

  await using api = await startApi(db.url, { HOST: '0.0.0.0', WFG_ADMIN_TOKEN: TOKEN });
  const post = (headers: Record<string, string>) =>
    postAs('wfg.example.org', `${api.url}/api/workflows/ci-1/run`, headers);
  expect(await post(bearer(TOKEN))).toBe(202);
  expect(await post({})).toBe(401);
  expect(await post({ ...bearer(TOKEN), origin: 'https://wfg.example.org' })).toBe(202);
  expect(await post({ ...bearer(TOKEN), origin: 'https://evil.example' })).toBe(403);

  // Whoever takes all tokens away does not open it to the world.
  const socket = dial(api.url, { headers: bearer(TOKEN) });
  expect(await handshake(socket)).toBe(101);
  await db.pool.query('delete from wfg_tokens');
  await ring(db.pool, BELL);
  expect(await closeCode(socket)).toBe(4401);
  expect(await statusOf(api, undefined)).toBe(401);
});

test('a trusted page may send the token', async () => {
  await using db = await testDatabase();
  const origin = 'https://ci.example.org';
  await using api = await startApi(db.url, { WFG_ADMIN_TOKEN: TOKEN, CORS_ORIGINS: origin });
  const preflight = await api.ask('OPTIONS', '/api/runs', undefined, {
    origin,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization,content-type',
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
  expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
  const refused = await api.ask('GET', '/api/runs', undefined, { origin });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('access-control-allow-origin')).toBe(origin);
});

test('a changed token replaces the old one on every api, and ends its sockets', async () => {
  await using db = await testDatabase();
  await using first = await startApi(db.url, { WFG_ADMIN_TOKEN: TOKEN });
  await using twin = await startApi(db.url, { WFG_ADMIN_TOKEN: TOKEN });
  for (const api of [first, twin]) expect(await statusOf(api, TOKEN)).toBe(200);
  const socket = dial(first.url, { headers: bearer(TOKEN) });
  expect(await handshake(socket)).toBe(101);
  const closed = closeCode(socket);
  const stays = dial(twin.url, { headers: bearer(OTHER) });
  expect(await handshake(stays)).toBe(401);

  await using changed = await startApi(db.url, { WFG_ADMIN_TOKEN: OTHER });
  expect(await statusOf(changed, OTHER)).toBe(200);
  expect(await statusOf(changed, TOKEN)).toBe(401);
  for (const api of [first, twin]) {
    expect(await statusOf(api, OTHER)).toBe(200);
    await expect.poll(() => statusOf(api, TOKEN), { timeout: 30_000 }).toBe(401);
  }
  expect(await closed).toBe(4401);
});

test('a token stays asked for when an api no longer has it set, and a revoked one is not revived', async () => {
  await using db = await testDatabase();
  await using open = await startApi(db.url);
  expect(await statusOf(open, undefined)).toBe(200);
  const socket = dial(open.url);
  expect(await handshake(socket)).toBe(101);
  const closed = closeCode(socket);
  const guarded = await startApi(db.url, { WFG_ADMIN_TOKEN: TOKEN });
  await guarded[Symbol.asyncDispose]();
  // One that started without a token asks for it too, by and by.
  await expect.poll(() => statusOf(open, undefined), { timeout: 30_000 }).toBe(401);
  expect(await closed).toBe(4401);
  expect(await statusOf(open, TOKEN)).toBe(200);

  await db.pool.query('update wfg_tokens set revoked_at = wfg_now()');
  await ring(db.pool, BELL);
  await expect.poll(() => statusOf(open, TOKEN), { timeout: 30_000 }).toBe(401);
  const revoked = startService('api', { DATABASE_URL: db.url, WFG_ADMIN_TOKEN: TOKEN });
  expect(await revoked.ended).toEqual({ code: 2, signal: null });
  await revoked.logged('WFG_ADMIN_TOKEN was revoked: set another one');
  await db.pool.query('delete from wfg_tokens');
  await ring(db.pool, BELL);
  await expect.poll(() => statusOf(open, undefined), { timeout: 30_000 }).toBe(200);
});

test('too many wrong tokens are sent away, while who is known already is served', async () => {
  await using db = await testDatabase();
  await using api = await startApi(db.url, { WFG_ADMIN_TOKEN: TOKEN });
  for (let n = 0; n < 10; n++) expect(await statusOf(api, `${OTHER}-${n}`)).toBe(401);
  const { status, headers, body } = await api.ask('GET', '/api/runs', undefined, bearer(TOKEN));
  expect({ status, body }).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
  expect(headers.get('retry-after')).toBe('60');
  // Nothing guessed, nothing counted.
  expect(await statusOf(api, undefined)).toBe(401);

  await using fresh = await startApi(db.url, { WFG_ADMIN_TOKEN: TOKEN });
  expect(await statusOf(fresh, TOKEN)).toBe(200);
  // The same one again is no other guess.
  for (let n = 0; n < 20; n++) expect(await statusOf(fresh, OTHER)).toBe(401);
  const guess = (n: number) => handshake(dial(fresh.url, { headers: bearer(`${OTHER}-${n}`) }));
  for (let n = 0; n < 9; n++) expect(await guess(n)).toBe(401);
  expect(await guess(10)).toBe(429);
  expect(await statusOf(fresh, OTHER)).toBe(429);
  expect(await statusOf(fresh, TOKEN)).toBe(200);
});

test('while the database is away nobody is told that his token is wrong', async () => {
  await using db = await testDatabase();
  await using proxy = await TcpProxy.start(db.url);
  await using api = await startApi(proxy.url, { WFG_ADMIN_TOKEN: TOKEN });
  expect(await statusOf(api, TOKEN)).toBe(200);
  proxy.stall();
  const statuses = await Promise.all([TOKEN, OTHER].map((token) => statusOf(api, token)));
  expect(statuses).toEqual([503, 503]);
  expect(await handshake(dial(api.url, { headers: bearer(OTHER) }))).toBe(503);
  expect(await statusOf(api, undefined, '/openapi.json')).toBe(200);
  expect(await statusOf(api, undefined)).toBe(401);
  proxy.unstall();
  proxy.cut();
  await expect.poll(() => statusOf(api, TOKEN), { timeout: 10_000 }).toBe(200);
});

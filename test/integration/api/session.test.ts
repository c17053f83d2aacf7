// A browser's session: from logging in to its end, on two copies of the api.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, startApi, type TestApi } from '../../support/api.ts';
import { moveClock } from '../../support/engine.ts';
import { openStream } from '../../support/event-stream.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { closeCode, dial, handshake } from '../../support/socket.ts';
import { ring } from '../../support/worker.ts';

const TOKEN = 'a-token-for-tests-1';

let db: TestDatabase;
let api: TestApi;
let twin: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  const start = () => startApi(db.url, { WFG_ADMIN_TOKEN: TOKEN });
  [api, twin] = await Promise.all([start(), start()]);
});

afterAll(async () => {
  await Promise.all([api, twin].map((one) => one[Symbol.asyncDispose]()));
  await db[Symbol.asyncDispose]();
});

const login = (token: string, headers: Record<string, string> = {}) =>
  api.ask('POST', '/api/session', { token }, { origin: api.url, ...headers });

/** The cookies of an answer without their attributes. */
const cookieOf = ({ headers }: Answer) => headers.getSetCookie()[0]?.split(';')[0] ?? '';

/** The cookie of a new session, under the name that another api looks for. */
async function session(of: TestApi = api): Promise<string> {
  const [, value] = cookieOf(await login(TOKEN)).split('=');
  return `wfg_session_${new URL(of.url).port}=${value}`;
}

const told = async (headers: Record<string, string>) =>
  (await api.ask('GET', '/api/session', undefined, headers)).body;

const statusOf = async (of: TestApi, cookie: string) =>
  (await of.ask('GET', '/api/runs', undefined, { cookie })).status;

test('logging in gives a cookie that no script reads and that stays on its site', async () => {
  const answer = await login(TOKEN);
  expect(answer).toMatchObject({ status: 200, body: { required: true, role: 'admin' } });
  const [name = '', ...attributes] = answer.headers.getSetCookie()[0]?.split('; ') ?? [];
  expect(name).toMatch(/^wfg_session_\d+=[\w-]{43}$/);
  expect(attributes).toEqual(['Max-Age=604800', 'Path=/', 'HttpOnly', 'SameSite=Strict']);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const { rows } = await db.pool.query<{ row: string }>('select s::text as row from wfg_sessions s');
  expect(JSON.stringify(rows)).not.toContain(name.split('=')[1]);
});

test('a page that came by https gets a cookie for https alone', async () => {
  const origin = api.url.replace('http:', 'https:');
  const { headers } = await login(TOKEN, { origin });
  expect(headers.getSetCookie()[0]).toContain('; Secure');
});

test('who shows nothing, a session or a token is told what it gives', async () => {
  expect(await told({})).toEqual({ required: true, role: null });
  expect(await told({ cookie: await session() })).toEqual({ required: true, role: 'admin' });
  expect(await told({ authorization: `Bearer ${TOKEN}` })).toEqual({ required: true, role: 'admin' });
  expect(await told({ authorization: 'Bearer another' })).toEqual({ required: true, role: null });
});

test('a session is good on every copy, and ends on every copy by logging out', async () => {
  const cookie = await session();
  const twins = cookie.replace(/\d+=/, `${new URL(twin.url).port}=`);
  expect(await statusOf(api, cookie)).toBe(200);
  expect(await statusOf(twin, twins)).toBe(200);
  const socket = dial(twin.url, { headers: { cookie: twins }, origin: twin.url });
  expect(await handshake(socket)).toBe(101);
  const closed = closeCode(socket);

  const out = await api.ask('DELETE', '/api/session', undefined, { cookie, origin: api.url });
  expect(out.status).toBe(204);
  expect(out.headers.getSetCookie()[0]).toMatch(/^wfg_session_\d+=; Max-Age=0; Path=\//);
  expect(await statusOf(api, cookie)).toBe(401);
  await expect.poll(() => statusOf(twin, twins), { timeout: 20_000 }).toBe(401);
  expect(await closed).toBe(4401);
  const again = await api.ask('DELETE', '/api/session', undefined, { cookie, origin: api.url });
  expect(again.status).toBe(204);
});

test('a log that is followed ends with the session', async () => {
  const cookie = await session();
  const headers = { cookie, origin: api.url };
  const { body } = await api.ask('POST', '/api/workflows/ci-1/run', undefined, headers);
  const stream = await openStream(
    `${api.url}/api/runs/${Object(body).run_id}/jobs/lint/logs/stream`,
    headers,
  );
  expect(stream.response.status).toBe(200);
  await api.ask('DELETE', '/api/session', undefined, headers);
  await stream.ended;
  expect(stream.events).toEqual([]);
});

test('the socket of a session that is gone ends also when no bell is heard', async () => {
  const socket = dial(api.url, { headers: { cookie: await session() }, origin: api.url });
  expect(await handshake(socket)).toBe(101);
  await db.pool.query('delete from wfg_sessions');
  expect(await closeCode(socket)).toBe(4401);
});

test('a change needs the page’s own origin beside the cookie, and so does a socket', async () => {
  const cookie = await session();
  const start = async (headers: Record<string, string>) =>
    api.ask('POST', '/api/workflows/ci-1/run', undefined, { cookie, ...headers });
  expect((await start({ origin: api.url })).status).toBe(202);
  const foreign = { status: 403, body: { code: 'foreign_origin' } };
  expect(await start({})).toMatchObject(foreign);
  expect(await start({ origin: 'https://evil.example' })).toMatchObject(foreign);
  expect(await start({ origin: 'null' })).toMatchObject(foreign);
  // A token is no cookie: nobody sends it unknowingly.
  expect((await start({ authorization: `Bearer ${TOKEN}` })).status).toBe(202);
  expect((await login(TOKEN, { origin: 'https://evil.example' })).status).toBe(403);

  const knock = (options: object) => handshake(dial(api.url, options));
  expect(await knock({ headers: { cookie } })).toBe(403);
  expect(await knock({ headers: { cookie }, origin: 'https://evil.example' })).toBe(403);
  expect(await knock({ origin: api.url })).toBe(401);
  expect(await knock({ headers: { authorization: `Bearer ${TOKEN}` } })).toBe(101);
  expect(await knock({ headers: { authorization: `Bearer ${TOKEN}` }, origin: 'https://evil.example' })).toBe(
    403,
  );
});

test('a session ends after a week, or with its token, and does not come back with it', async () => {
  const cookie = await session();
  expect(await statusOf(api, cookie)).toBe(200);
  await moveClock(db.pool, '7 days 1 second');
  await ring(db.pool, '{"v":1,"tokens":true}');
  await expect.poll(() => statusOf(api, cookie), { timeout: 20_000 }).toBe(401);

  const next = await session();
  const { rows } = await db.pool.query<{ count: number }>('select count(*) from wfg_sessions');
  expect(rows[0]?.count).toBe(1);
  for (const token of ['another-token-for-tests', TOKEN]) {
    const changing = await startApi(db.url, { WFG_ADMIN_TOKEN: token });
    await changing[Symbol.asyncDispose]();
  }
  await expect.poll(() => statusOf(api, next), { timeout: 20_000 }).toBe(401);
  expect((await login(TOKEN)).status).toBe(200);
});

test('a thousand sessions are kept at most: the oldest goes', async () => {
  const oldest = await session();
  await db.pool.query(
    `insert into wfg_sessions (hash, token_hash, created_at, expires_at)
     select sha256(convert_to('s' || n, 'UTF8')), t.hash, wfg_now() + interval '1 second', wfg_now() + interval '1 day'
     from wfg_tokens t, generate_series(1, 999) n`,
  );
  expect(await statusOf(twin, oldest.replace(/\d+=/, `${new URL(twin.url).port}=`))).toBe(200);
  await session();
  await ring(db.pool, '{"v":1,"tokens":true}');
  await expect.poll(() => statusOf(api, oldest), { timeout: 20_000 }).toBe(401);
});

test('a wrong token begins nothing, and guessing is slowed down', async () => {
  const guesses: Answer[] = [];
  for (let n = 0; n < 11; n++) guesses.push(await login(`guess-${n}`));
  const statuses = guesses.map(({ status }) => status);
  expect(statuses).toContain(401);
  expect(statuses.at(-1)).toBe(429);
  expect(guesses.flatMap(({ headers }) => headers.getSetCookie())).toEqual([]);
  for (const body of [{}, { token: '' }, { token: TOKEN, more: 1 }]) {
    expect((await api.ask('POST', '/api/session', body)).status).toBe(422);
  }
});

test('where no token is asked for nobody logs in', async () => {
  await using own = await testDatabase();
  await using open = await startApi(own.url);
  const { status, body } = await open.ask('POST', '/api/session', { token: TOKEN });
  expect({ status, body }).toMatchObject({ status: 409, body: { code: 'conflict' } });
  expect((await open.ask('GET', '/api/session')).body).toEqual({ required: false, role: 'admin' });
});

// The list of events: its order, its pages, its filters.
import { Event, EventStatus } from '@wfg/shared/contract/event';
import { z } from 'zod';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { claimEvent, enqueue, finish, submit } from '../../support/engine.ts';
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

beforeEach(() => db.pool.query('truncate wfg_jobs, wfg_history, wfg_attempts, wfg_runs'));

async function list(query = ''): Promise<{ ids: string[]; events: Event[]; next: string | null }> {
  const { status, headers, body } = await api.ask('GET', `/workflows${query}`);
  expect(status).toBe(200);
  const events = z.array(Event).parse(body);
  const next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? null;
  return { ids: events.map(({ id }) => id), events, next };
}

/** One event in each status, by it. */
async function oneOfEach(): Promise<Record<EventStatus, string>> {
  const event = async (outcome: 'completed' | 'failed' | 'cancelled', max_attempts = 3) => {
    const id = await enqueue(db.pool, 'a', { max_attempts });
    await finish(db.pool, await claimEvent(db.pool, 'a'), { outcome, error: 'no' });
    return id;
  };
  const completed = await event('completed');
  const cancelled = await event('cancelled');
  const dead_lettered = await event('failed', 1);
  const failed = await event('failed');
  const processing = await enqueue(db.pool, 'b');
  await claimEvent(db.pool, 'b');
  return { completed, cancelled, dead_lettered, failed, processing, pending: await enqueue(db.pool, 'a') };
}

test('live and ended events are listed together, newest first; jobs of graphs are not', async () => {
  const of = await oneOfEach();
  await submit(db.pool, { main: {} });
  expect((await list()).ids).toEqual([
    of.pending,
    of.processing,
    of.failed,
    of.dead_lettered,
    of.cancelled,
    of.completed,
  ]);
  expect((await list()).events[5]).toMatchObject({ status: 'completed', workflow_type: 'a', payload: {} });
});

test('each status finds its own', async () => {
  const of = await oneOfEach();
  for (const status of EventStatus.options) {
    const { events } = await list(`?status=${status}`);
    expect(events.map((event) => [event.id, event.status])).toEqual([[of[status], status]]);
  }
  expect((await list('?workflow_type=b')).ids).toEqual([of.processing]);
  expect((await list('?workflow_type=b&status=failed')).ids).toEqual([]);
  expect((await list('?workflow_type=unknown')).ids).toEqual([]);
});

test('pages follow each other without gap or repetition, whatever comes meanwhile', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 7; n++) {
    ids.unshift(await enqueue(db.pool, 'a'));
    if (n % 2 === 0) await finish(db.pool, await claimEvent(db.pool, 'a'));
  }
  const seen: string[] = [];
  for (let next: string | null = '/workflows?limit=3'; next !== null; ) {
    const page = await list(next.slice('/workflows'.length));
    seen.push(...page.ids);
    next = page.next;
    await enqueue(db.pool, 'a');
    expect(page.ids.length).toBe(next === null ? 1 : 3);
  }
  expect(seen).toEqual(ids);
});

test('there are 50 on a page, or as many as are asked for, at most 500', async () => {
  await db.pool.query(`
    insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, payload)
    select wfg_uuid7(), 0, 'main', 'a', 'a', 'pending', 'event', array[':event a'], '{}' from generate_series(1, 510)`);
  expect((await list()).ids).toHaveLength(50);
  expect((await list('?limit=7')).ids).toHaveLength(7);
  const most = await list('?limit=100000');
  expect(most.ids).toHaveLength(500);
  expect((await list(most.next?.slice('/workflows'.length))).ids).toHaveLength(10);
});

test('large payloads make short pages', async () => {
  const payload = { text: 'x'.repeat(1_000_000) };
  for (let n = 0; n < 7; n++) await enqueue(db.pool, 'a', { payload });
  const first = await list();
  expect(first.ids).toHaveLength(5);
  expect((await list(first.next?.slice('/workflows'.length))).ids).toHaveLength(2);
});

test.each([
  ['status=done', 'expected one of "pending"|"processing"|"completed"|"failed"|"dead_lettered"|"cancelled"'],
  ['limit=0', 'must be at least 1'],
  ['limit=x', 'must be a whole number from 1'],
  ['cursor=abc', 'must be the "next" of an earlier page'],
  ['offset=1', 'unknown key "offset"'],
  ['workflow_type=', 'must be 1 to 255 characters'],
])('the query %s is refused: %s', async (query, message) => {
  expect(await api.ask('GET', `/workflows?${query}`)).toMatchObject({
    status: 400,
    body: { code: 'bad_query', detail: expect.stringContaining(message) },
  });
});

const unknown = '00000000-0000-7000-8000-000000000000';
const ROUTES = [
  ['GET', ''],
  ['GET', '/status'],
  ['GET', '/attempts'],
  ['POST', '/requeue'],
  ['POST', '/cancel'],
] as const;

test.each(ROUTES)('%s /workflows/{id}%s: an unknown id is 404, a bad one 400', async (method, path) => {
  expect(await api.ask(method, `/workflows/${unknown}${path}`)).toMatchObject({
    status: 404,
    body: { code: 'not_found', detail: `there is no event ${unknown}` },
  });
  expect(await api.ask(method, `/workflows/nonsense${path}`)).toMatchObject({
    status: 400,
    body: { code: 'bad_id' },
  });
});

test('the run of a graph is no event, even if its job is called main', async () => {
  const run = await submit(db.pool, { main: {} });
  for (const [method, path] of ROUTES) {
    expect((await api.ask(method, `/workflows/${run}${path}`)).status).toBe(404);
  }
  const { rows } = await db.pool.query('select state from wfg_jobs where run_id = $1', [run]);
  expect(rows).toEqual([{ state: 'pending' }]);
});

test('a browser is told of events as everyone is, and finds the page beside them', async () => {
  const headers = { accept: 'text/html,*/*;q=0.8' };
  expect(await api.ask('GET', '/workflows', undefined, headers)).toMatchObject({ status: 200, body: [] });
  expect((await api.ask('GET', '/workflows/a/b', undefined, headers)).status).toBe(404);
  expect((await api.ask('DELETE', '/workflows')).headers.get('allow')).toBe('GET, POST');
});

// The log of a job as Server-Sent Events, over HTTP.
import type { ClaimedJob } from '@wfg/shared/queries/claim';
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { Watched } from '@wfg/shared/runtime/watched';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
// First, as in main.ts: it adds to the schemas that are made after it.
import { createApp } from '../../../services/api/src/app.ts';
import type { Paced } from '../../../services/api/src/context.ts';
import { createWaitingClaims, type WaitingClaims } from '../../../services/api/src/foreign/waiting-claims.ts';
import { type Access, createAccess } from '../../../services/api/src/access/access.ts';
import { createGate } from '../../../services/api/src/access/gate.ts';
import { type HttpServer, startHttp } from '../../../services/api/src/http/server.ts';
import { turns } from '../../../services/api/src/http/turns.ts';
import { createFeeds, type Feeds } from '../../../services/api/src/live/feeds.ts';
import { createHub, type Hub } from '../../../services/api/src/live/hub.ts';
import { startApi } from '../../support/api.ts';
import { advance, claim, finish, print, submit } from '../../support/engine.ts';
import { openStream, type TestStream } from '../../support/event-stream.ts';
import { noWatch } from '../../support/no-watch.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const log = pino({ level: 'silent' });
const pollMs = () => 1_000;

let db: TestDatabase;
let http: HttpServer;
let access: Access;
let hub: Hub;
let feeds: Feeds;
let waiting: WaitingClaims;
let run: string;
let job: ClaimedJob;

async function claimOne(): Promise<ClaimedJob> {
  const [claimed] = await claim(db.pool, { limit: 1 });
  if (!claimed) throw new Error('nothing to claim');
  return claimed;
}

/** One request at a time is served: a stream that kept its turn would be the last one. */
beforeEach(async () => {
  db = await testDatabase();
  hub = createHub({ viewers: 100, viewersOfOne: 100 });
  feeds = createFeeds({ pool: db.pool, log, pollMs, watch: noWatch });
  waiting = createWaitingClaims({ pool: db.pool, log, pollMs });
  const doorbell = createDoorbell(db.pool, log);
  const takeTurn = turns({ atOnce: 1, waiting: 1 });
  const { signal } = new AbortController();
  const paced: Paced = (work) => takeTurn(signal, () => work(signal));
  access = await createAccess({ pool: db.pool, log, hub, doorbell, config: { HOST: '127.0.0.1' } });
  const gate = createGate(access, []);
  const context = {
    pool: db.pool,
    doorbell,
    log,
    hub,
    feeds,
    watched: new Watched(),
    paced,
    doubt: () => undefined,
    waiting,
    lostClaims: { add: () => undefined, problem: () => null, [Symbol.asyncDispose]: () => Promise.resolve() },
    claimMemory: new ClaimMemory(),
    logMaxBytes: 65_536,
    access,
    gate,
    reasons: () => [],
  };
  const app = createApp(context, { trustedOrigins: [], clientFolder: '/' });
  http = await startHttp('127.0.0.1', 0, async (request, env) => app.fetch(request, env));
  run = await submit(db.pool, { a: { retries: 1 } });
  job = await claimOne();
});

afterEach(async () => {
  await hub.close();
  await feeds[Symbol.asyncDispose]();
  await waiting[Symbol.asyncDispose]();
  await access[Symbol.asyncDispose]();
  await http[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const watch = (query = '', headers?: Record<string, string>) =>
  openStream(`${http.url}/api/runs/${run}/jobs/a/logs/stream${query}`, headers);

/** Sockets of the server. */
const connections = () =>
  new Promise<number>((resolve) => http.server.getConnections((_error, count) => resolve(count)));
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Many viewers, until nothing of them is left. */
async function comeAndGo(): Promise<void> {
  const streams: TestStream[] = [];
  for (let n = 0; n < 20; n++) streams.push(await watch());
  await waitFor('all to be served', () => hub.count() === 20);
  for (const stream of streams) stream.leave();
  await waitFor('all to be gone', async () => hub.count() === 0 && (await connections()) === 0);
}

const ids = ({ events }: TestStream) => events.map(({ event, id }) => id ?? event);
const places = (attempt: number, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${attempt}:${from + index}`);
const sealed = (chunks: number) => ({ log_chunks: chunks, log_lines: 2 * chunks, log_bytes: 2 * chunks });

test('what was printed, what is printed and the end come once and in order, over several attempts', async () => {
  await print(db.pool, job, 0, 150);
  const stream = await watch();
  expect(Object.fromEntries(stream.response.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
  });
  await waitFor('the replay', () => stream.events.length === 150);
  expect(stream.events[7]).toEqual({
    event: 'log',
    id: '0:7',
    data: {
      workflow_id: null,
      run_id: run,
      job_id: 'a',
      attempt: 0,
      sequence: 7,
      line: 15,
      data: '0:7\n\n',
      timestamp_ms: 0,
      stream: 'stdout',
    },
  });
  await print(db.pool, job, 150, 160);
  feeds.hear({ v: 1, logs: [`${run}-0`] });
  await waitFor('the live chunks', () => stream.events.length === 160);
  await finish(db.pool, job, { outcome: 'failed', ...sealed(158) });
  const second = await claimOne();
  await print(db.pool, second, 0, 3);
  await finish(db.pool, second, { outcome: 'failed', ...sealed(2) });
  await advance(db.pool);
  feeds.hear({ v: 1, runs: [run] });
  await stream.ended;
  expect(ids(stream)).toEqual([...places(0, 0, 160), ...places(1, 0, 2), 'end']);
  expect(stream.events.at(-1)).toEqual({
    event: 'end',
    id: null,
    data: { state: 'failed', attempt: 1, chunks: 2 },
  });
  await waitFor('nobody to be left', () => hub.count() === 0);
});

test('a client resumes behind the last chunk it has', async () => {
  await print(db.pool, job, 0, 5);
  await finish(db.pool, job, sealed(5));
  await advance(db.pool);
  const streams = await Promise.all([watch('?after=0:2'), watch('?after=0:0', { 'last-event-id': '0:3' })]);
  const ended = await watch('', { 'last-event-id': '0:4' });
  await Promise.all([...streams, ended].map((stream) => stream.ended));
  expect([...streams, ended].map(ids)).toEqual([['0:3', '0:4', 'end'], ['0:4', 'end'], ['end']]);
  expect((await watch('', { 'last-event-id': 'x' })).response.status).toBe(400);
  expect((await watch('', { 'last-event-id': '7:0' })).response.status).toBe(404);
});

test('viewers of a silent job who leave leave nothing behind, and hold up nobody while they are there', async () => {
  // The first time the pool makes connections, with timers of their own.
  await comeAndGo();
  const before = timers();
  for (let round = 0; round < 5; round++) await comeAndGo();
  await waitFor('nothing to be read', () => db.pool.idleCount === db.pool.totalCount);
  await waitFor('no timer more than before', () => timers() <= before);
  expect(hub.count()).toBe(0);
});

test('a HEAD request follows nothing', async () => {
  const { status } = await fetch(`${http.url}/api/runs/${run}/jobs/a/logs/stream`, { method: 'HEAD' });
  expect(status).toBe(200);
  expect(hub.count()).toBe(0);
});

test('an api that is stopped ends its streams', async () => {
  const api = await startApi(db.url);
  const stream = await openStream(`${api.url}/api/runs/${run}/jobs/a/logs/stream`);
  await print(db.pool, job, 0, 1);
  await waitFor('the chunk', () => stream.events.length === 1);
  api.signal('SIGTERM');
  // Ended, not cut off.
  await stream.ended;
  expect(await api.ended).toMatchObject({ code: 0 });
});

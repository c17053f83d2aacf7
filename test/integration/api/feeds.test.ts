// Many viewers of one log: read once for all of them, whoever comes late, leaves or takes nothing for a while.
import { once } from 'node:events';
import type { ServerFrame, Subscribe } from '@wfg/shared/contract/live';
import type { ClaimedJob } from '@wfg/shared/queries/claim';
import { boolean, nat, option, record, sample } from 'fast-check';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { serveConnection } from '../../../services/api/src/live/connection.ts';
import { createFeeds, type Feeds } from '../../../services/api/src/live/feeds.ts';
import { MAX_BUFFERED } from '../../../services/api/src/live/outlet.ts';
import { advance, claim, finish, print, submit } from '../../support/engine.ts';
import { noWatch } from '../../support/no-watch.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const log = pino({ level: 'silent' });

interface Viewer {
  client: WebSocket;
  peer: WebSocket;
  frames: ServerFrame[];
}

let db: TestDatabase;
let server: WebSocketServer;
let feeds: Feeds;
let run: string;
let job: ClaimedJob;
let viewers: Viewer[];
/** Statements that were made. */
let reads: number;

beforeEach(async () => {
  db = await testDatabase();
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  feeds = createFeeds({ pool: db.pool, log, pollMs: () => 60_000, watch: noWatch });
  run = await submit(db.pool, { a: { retries: 1 } });
  job = await claimOne();
  viewers = [];
  db.pool.on('acquire', () => reads++);
});

afterEach(async () => {
  for (const { client } of viewers) client.terminate();
  await waitFor('the server to let them go', () => server.clients.size === 0);
  server.close();
  await feeds[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

async function claimOne(): Promise<ClaimedJob> {
  const [claimed] = await claim(db.pool, { limit: 1 });
  if (!claimed) throw new Error('nothing to claim');
  return claimed;
}

async function connect(): Promise<Viewer> {
  const address = server.address();
  const client = new WebSocket(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
  const frames: ServerFrame[] = [];
  client.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString('utf8'))));
  const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'open')]);
  serveConnection(peer, { pool: db.pool, log, feeds, maxSubscriptions: 500 });
  const viewer = { client, peer, frames };
  viewers.push(viewer);
  return viewer;
}

type Asked = Partial<Pick<Extract<Subscribe, { topic: 'logs' }>, 'id' | 'job' | 'after' | 'attempt'>>;

const follow = ({ client }: Viewer, asked: Asked = {}) =>
  client.send(JSON.stringify({ op: 'subscribe', id: 'l', topic: 'logs', run, job: 'a', ...asked }));
const ring = () => feeds.hear({ v: 1, logs: [`${run}-${job.position}`] });
const chunks = ({ frames }: Viewer) => frames.filter((frame) => frame.op === 'log');
const hasEnded = ({ frames }: Viewer) => frames.some(({ op }) => op === 'end');
const isIdle = () => db.pool.waitingCount === 0 && db.pool.idleCount === db.pool.totalCount;

/** `<attempt>:<sequence>` of all that it was sent. */
const places = (viewer: Viewer) => chunks(viewer).map(({ attempt, sequence }) => `${attempt}:${sequence}`);
const from = (attempt: number, first: number, end: number) =>
  Array.from({ length: end - first }, (_, index) => `${attempt}:${first + index}`);

async function end(of: ClaimedJob, count: number): Promise<void> {
  await finish(db.pool, of, { outcome: 'failed', log_chunks: count, log_lines: count, log_bytes: count });
  await advance(db.pool);
  feeds.hear({ v: 1, runs: [run] });
}

test('twenty viewers are read for as one is, and each has all of it', async () => {
  await print(db.pool, job, 0, 10);
  for (let n = 0; n < 20; n++) follow(await connect(), { id: `viewer ${n}` });
  await waitFor('all to have what there is', () => viewers.every((viewer) => chunks(viewer).length === 10));
  await waitFor('nothing to be read', isIdle);
  reads = 0;
  for (let n = 10; n < 40; n++) {
    await print(db.pool, job, n, n + 1);
    ring();
    await waitFor('all to have it', () => viewers.every((viewer) => chunks(viewer).length === n + 1));
  }
  // A statement to print it, one for the attempts, one for the chunk.
  expect(reads).toBeLessThanOrEqual(30 * 3 + 10);
  for (const [index, viewer] of viewers.entries()) {
    expect(places(viewer)).toEqual(from(0, 0, 40));
    expect(chunks(viewer).every(({ id }) => id === `viewer ${index}`)).toBe(true);
  }
});

test('who takes nothing holds up nobody, and has all of it in the end', async () => {
  const [slow, quick] = [await connect(), await connect()];
  follow(slow);
  follow(quick);
  await print(db.pool, job, 0, 1);
  ring();
  await waitFor('both to follow', () => viewers.every((viewer) => chunks(viewer).length === 1));
  slow.client.pause();
  let printed = 1;
  for (; slow.peer.bufferedAmount <= MAX_BUFFERED && printed < 2_000; printed += 20) {
    await print(db.pool, job, printed, printed + 20, () => `${'x'.repeat(60_000)}\n`);
    ring();
    const all = printed + 20;
    await waitFor('the quick one to have it', () => chunks(quick).length === all);
  }
  expect(slow.peer.bufferedAmount).toBeLessThan(MAX_BUFFERED + 200_000);
  await print(db.pool, job, printed, printed + 100, () => `${'x'.repeat(60_000)}\n`);
  ring();
  await waitFor('the quick one to have all', () => chunks(quick).length === printed + 100);
  expect(slow.peer.bufferedAmount).toBeLessThan(MAX_BUFFERED + 200_000);
  slow.client.resume();
  await waitFor('the slow one to have all', () => chunks(slow).length === printed + 100);
  expect(places(slow)).toEqual(from(0, 0, printed + 100));
  await waitFor('nothing to be read', isIdle);
  reads = 0;
  await print(db.pool, job, printed + 100, printed + 101);
  ring();
  await waitFor('both to have it', () => viewers.every((viewer) => chunks(viewer).length === printed + 101));
  expect(reads).toBeLessThanOrEqual(4);
});

test.each([
  ['a chunk', { after: '0:500' }],
  ['an attempt', { attempt: 7 }],
])('who names %s that does not exist yet makes nobody read all the time', async (_, asked) => {
  await print(db.pool, job, 0, 10);
  const odd = await connect();
  follow(odd, asked);
  reads = 0;
  await waitFor('the odd one to be read for', () => reads > 0 && isIdle());
  const viewer = await connect();
  follow(viewer);
  await waitFor('the other to have what there is', () => chunks(viewer).length === 10);
  reads = 0;
  for (let n = 10; n < 40; n++) {
    await print(db.pool, job, n, n + 1);
    ring();
    await waitFor('it to have what is new', () => chunks(viewer).length === n + 1);
  }
  expect(reads).toBeLessThanOrEqual(30 * 3 + 10);
  expect(places(viewer)).toEqual(from(0, 0, 40));
  expect(places(odd)).toEqual([]);
});

test.each([
  ['an attempt', { attempt: 2 ** 31 }],
  ['a job', { job: 'a\0' }],
])('who names %s that the database cannot even look for is told so', async (_, asked) => {
  const viewer = await connect();
  follow(viewer, asked);
  await waitFor('an answer', () => viewer.frames.length > 0);
  expect(viewer.frames).toMatchObject([{ op: 'error', id: 'l', code: 'bad_frame' }]);
});

test.each([{ attempt: 7 }, { after: '5:0' }])('of a job that has ended, %j is refused', async (asked) => {
  await print(db.pool, job, 0, 10);
  await finish(db.pool, job, { outcome: 'completed', log_chunks: 10, log_lines: 10, log_bytes: 100 });
  const viewer = await connect();
  follow(viewer, asked);
  await waitFor('an answer', () => viewer.frames.length > 0);
  const { attempt = 5 } = asked;
  expect(viewer.frames).toEqual([
    {
      op: 'error',
      id: 'l',
      code: 'not_found',
      detail: `there is no attempt ${attempt} of job a in run ${run}`,
    },
  ]);
});

test('whenever viewers come, and wherever they begin, nothing is lost and nothing comes twice', async () => {
  const plan = sample(
    record({ prints: nat(30), after: option(nat(20), { nil: undefined }), rings: boolean() }),
    { numRuns: 30, seed: 5 },
  );
  let printed = 0;
  const starts: number[] = [];
  for (const { prints, after, rings } of plan) {
    const viewer = await connect();
    const start = after === undefined ? 0 : Math.min(after, printed);
    starts.push(start);
    const printing = print(db.pool, job, printed, printed + prints);
    follow(viewer, start === 0 ? {} : { after: `0:${start - 1}` });
    await printing;
    printed += prints;
    if (rings) ring();
  }
  await end(job, printed);
  const second = await claimOne();
  await print(db.pool, second, 0, 5);
  await end(second, 5);
  await waitFor('the end of all', () => viewers.every(hasEnded));
  for (const [index, viewer] of viewers.entries()) {
    expect(places(viewer)).toEqual([...from(0, starts[index] ?? 0, printed), ...from(1, 0, 5)]);
    expect(viewer.frames.at(-1)).toMatchObject({ op: 'end', state: 'failed', attempt: 1, chunks: 5 });
  }
});

test('who asks for one attempt gets that, whatever comes after it', async () => {
  const [first, second, never, all] = [await connect(), await connect(), await connect(), await connect()];
  follow(first, { attempt: 0 });
  follow(second, { attempt: 1 });
  follow(never, { attempt: 7 });
  follow(all);
  await print(db.pool, job, 0, 3);
  ring();
  await waitFor('the first chunks', () => chunks(first).length === 3 && chunks(all).length === 3);
  await end(job, 3);
  await waitFor('the end of the first', () => hasEnded(first));
  const again = await claimOne();
  await print(db.pool, again, 0, 2);
  feeds.hear({ v: 1, runs: [run] });
  await waitFor('the second', () => chunks(second).length === 2);
  await end(again, 2);
  await waitFor('all ends', () => viewers.every(hasEnded));
  expect(viewers.map(places)).toEqual([
    from(0, 0, 3),
    from(1, 0, 2),
    [],
    [...from(0, 0, 3), ...from(1, 0, 2)],
  ]);
  expect(viewers.map(({ frames }) => frames.filter(({ op }) => op === 'end').length)).toEqual([1, 1, 1, 1]);
  expect(all.frames.filter(({ op }) => op === 'attempt')).toHaveLength(2);
});

test('when all have left, whoever comes next is read for from his own place', async () => {
  const gone = await connect();
  follow(gone);
  await print(db.pool, job, 0, 5);
  ring();
  await waitFor('it', () => chunks(gone).length === 5);
  gone.client.send(JSON.stringify({ op: 'unsubscribe', id: 'l' }));
  await print(db.pool, job, 5, 200);
  const next = await connect();
  follow(next, { after: '0:1' });
  await waitFor('the rest', () => chunks(next).length === 198);
  await print(db.pool, job, 200, 201);
  ring();
  await waitFor('what comes', () => chunks(next).length === 199);
  expect(places(next)).toEqual(from(0, 2, 201));
  expect(chunks(gone)).toHaveLength(5);
});

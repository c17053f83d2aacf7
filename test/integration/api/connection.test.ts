// One socket against a slow or greedy client: what the server holds for it is bounded.
import { once } from 'node:events';
import type { ClientFrame, ServerFrame } from '@wfg/shared/contract/live';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { serveConnection } from '../../../services/api/src/live/connection.ts';
import { createFeeds, type Feeds } from '../../../services/api/src/live/feeds.ts';
import type { Viewer } from '../../../services/api/src/live/hub.ts';
import { MAX_BUFFERED } from '../../../services/api/src/live/outlet.ts';
import { submit } from '../../support/engine.ts';
import { noWatch } from '../../support/no-watch.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

let db: TestDatabase;
let server: WebSocketServer;
let peer: WebSocket;
let feeds: Feeds;
let connection: Viewer;
let client: WebSocket;
let frames: ServerFrame[];
/** Statements that were made for the socket. */
let reads: number;

beforeEach(async () => {
  db = await testDatabase();
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const address = server.address();
  client = new WebSocket(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
  frames = [];
  client.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString('utf8'))));
  [peer] = await once(server, 'connection');
  const log = pino({ level: 'silent' });
  feeds = createFeeds({ pool: db.pool, log, pollMs: () => 60_000, watch: noWatch });
  connection = serveConnection(peer, { pool: db.pool, log, feeds, maxSubscriptions: 500 });
  await once(client, 'open');
  reads = 0;
  db.pool.on('acquire', () => reads++);
});

afterEach(async () => {
  client.terminate();
  await connection.closed;
  await feeds[Symbol.asyncDispose]();
  server.close();
  await db[Symbol.asyncDispose]();
});

const send = (frame: ClientFrame) => client.send(JSON.stringify(frame));
const snapshots = () => frames.filter((frame) => frame.op === 'snapshot');
const isIdle = () => db.pool.waitingCount === 0 && db.pool.idleCount === db.pool.totalCount;

/** A run whose snapshot is about so large. */
async function largeRun(bytes: number): Promise<string> {
  const run = await submit(db.pool, { a: {} });
  await db.pool.query(
    `update wfg_jobs set metadata = json_build_object('text', repeat('x', $2)) where run_id = $1`,
    [run, bytes],
  );
  return run;
}

test('a slow client has one snapshot too many in its socket at most, however many it subscribed to', async () => {
  const size = 2 * 1024 * 1024;
  const run = await largeRun(size);
  let most = 0;
  db.pool.on('release', () => (most = Math.max(most, peer.bufferedAmount)));
  client.pause();
  for (let n = 0; n < 20; n++) send({ op: 'subscribe', id: `s${n}`, topic: 'run', run });
  await waitFor('the socket to be full', () => peer.bufferedAmount > MAX_BUFFERED);
  await waitFor('nothing to be read for it', isIdle);
  client.resume();
  await waitFor('all snapshots', () => snapshots().length === 20);
  expect(most).toBeLessThan(MAX_BUFFERED + 1.5 * size);
});

test('who asks anew again and again is read for once, not as often', async () => {
  const run = await largeRun(1_000);
  send({ op: 'subscribe', id: 's', topic: 'run', run });
  for (let n = 0; n < 200; n++) send({ op: 'resync', id: 's' });
  for (let n = 0; n < 200; n++) {
    send({ op: 'subscribe', id: `s${n}`, topic: 'run', run });
    send({ op: 'unsubscribe', id: `s${n}` });
  }
  send({ op: 'subscribe', id: 'last', topic: 'run', run });
  await waitFor('the last snapshot', () => snapshots().some(({ id }) => id === 'last'));
  expect(snapshots().some(({ id }) => id === 's')).toBe(true);
  expect(reads).toBeLessThan(30);
});

test('who asks and does not read the answers is not listened to until it does', async () => {
  const run = await largeRun(MAX_BUFFERED * 4);
  client.pause();
  send({ op: 'subscribe', id: 's', topic: 'run', run });
  await waitFor('the socket to be full', () => peer.bufferedAmount > MAX_BUFFERED);
  const before = peer.bufferedAmount;
  for (let n = 0; n < 20_000; n++) send({ op: 'ping' });
  await waitFor('the server to stop reading', () => peer.isPaused);
  expect(peer.bufferedAmount - before).toBeLessThan(1024 * 1024);
  client.resume();
  await waitFor('every answer', () => frames.filter(({ op }) => op === 'pong').length === 20_000);
});

// The connection against a real socket whose far end is cut, goes silent, or is away.
import { afterEach, expect, test, vi } from 'vitest';
import { type WebSocket as Peer, WebSocketServer } from 'ws';
import { createLogStore } from '../log/store.ts';
import { type Connection, type TopicFrame, connect } from './connection.ts';
import { RUN_ID } from './run.fixture.ts';

const LIMITS = { quiet: 2000, answer: 2000, stale: 40, firstRetry: 1, longestRetry: 8 };
const IMPATIENT = { ...LIMITS, quiet: 20, answer: 20 };
const CHUNKS = 400;
const SOON = { timeout: 5000, interval: 5 };

interface Frame {
  op: string;
  id?: string;
  after?: string;
}
type Answer = (peer: Peer, frame: Frame) => void;

let server: WebSocketServer;
let connection: Connection;

async function listen(answer: Answer, port = 0): Promise<number> {
  server = new WebSocketServer({ host: '127.0.0.1', port });
  server.on('connection', (peer) => {
    peer.addEventListener('message', ({ data }) => {
      if (typeof data === 'string') answer(peer, JSON.parse(data));
    });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the test server has no port');
  return address.port;
}

async function serve(answer: Answer, limits = LIMITS): Promise<number> {
  const port = await listen(answer);
  connection = connect(`ws://127.0.0.1:${port}/ws`, limits);
  return port;
}

function follow(receive: (frame: TopicFrame) => void, after: () => string | undefined = () => undefined) {
  return connection.subscribe({
    topic: () => ({ topic: 'logs', run: RUN_ID, job: 'build', after: after() }),
    receive,
  });
}

const say = (peer: Peer, frame: object) => peer.send(JSON.stringify(frame));

const chunk = (id: string | undefined, sequence: number) => ({
  op: 'log',
  id,
  attempt: 0,
  sequence,
  line: sequence + 1,
  stream: 'stdout',
  timestamp_ms: 1,
  data: `${sequence}\n`,
});

const pong: Answer = (peer, frame) => {
  if (frame.op === 'ping') say(peer, { op: 'pong' });
};

afterEach(() => {
  connection.close();
  for (const peer of server.clients) peer.terminate();
  server.close();
});

test('a log cut off twenty times is there once, whole and in order', async () => {
  let cuts = 0;
  await serve((peer, frame) => {
    if (frame.op !== 'subscribe') return;
    const known = frame.after ? Number(frame.after.split(':')[1]) : -1;
    // One chunk too many each time: what is known must not show twice.
    for (let next = Math.max(0, known); next < CHUNKS; next += 1) {
      say(peer, chunk(frame.id, next));
      if (cuts < 20 && next === known + 7) {
        cuts += 1;
        peer.close();
        return;
      }
    }
  });
  const store = createLogStore();
  follow(
    (frame) => frame.op === 'log' && store.append(frame),
    () => store.position(),
  );
  await vi.waitFor(() => expect(store.count()).toBe(CHUNKS), SOON);
  expect(cuts).toBe(20);
  expect(store.lines.map((line) => line.text)).toEqual(Array.from({ length: CHUNKS }, (_, i) => String(i)));
});

test('a socket that says nothing any more is given up, and the page says so', async () => {
  let silent = true;
  const states: string[] = [];
  await serve((peer, frame) => {
    if (!silent) pong(peer, frame);
  }, IMPATIENT);
  connection.state.subscribe((state) => {
    states.push(state);
    if (state === 'stale') silent = false;
  });
  await vi.waitFor(() => expect(states).toContain('stale'), SOON);
  await vi.waitFor(() => expect(connection.state.value).toBe('live'), SOON);
});

test('a server that is away is dialled until it is back, and the page is stale meanwhile', async () => {
  const port = await serve(pong);
  await vi.waitFor(() => expect(connection.state.value).toBe('live'), SOON);
  for (const peer of server.clients) peer.terminate();
  await new Promise((resolve) => server.close(resolve));
  await vi.waitFor(() => expect(connection.state.value).toBe('stale'), SOON);
  await listen(pong, port);
  await vi.waitFor(() => expect(connection.state.value).toBe('live'), SOON);
});

test('what was unsubscribed is neither renewed nor delivered', async () => {
  const asked: Frame[] = [];
  const seen: string[] = [];
  await serve((peer, frame) => {
    pong(peer, frame);
    if (frame.op === 'ping') return;
    asked.push(frame);
    if (frame.op === 'unsubscribe') {
      say(peer, chunk(frame.id, 0));
      peer.close();
    }
  });
  const stop = follow((frame) => seen.push(frame.op));
  follow(() => {});
  await vi.waitFor(() => expect(asked.length).toBe(2), SOON);
  stop();
  await vi.waitFor(
    () => expect(asked.map((frame) => `${frame.op} ${frame.id}`)).toContain('unsubscribe s1'),
    SOON,
  );
  await vi.waitFor(() => expect(asked.length).toBe(4), SOON);
  expect(asked.at(-1)).toMatchObject({ op: 'subscribe', id: 's2' });
  expect(seen).toEqual([]);
});

// The topics `runs`, `workers` and `stats` of the WebSocket, its limits, and whatever a client may send.
import { once } from 'node:events';
import { connect } from 'node:net';
import { ServerFrame } from '@wfg/shared/contract/live';
import { createEvent } from '@wfg/shared/contract/routes/events';
import { anything, asyncProperty, assert as check, constantFrom, oneof, record, string } from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { startApi, type TestApi } from '../../support/api.ts';
import { advance, claim, finish, submit } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { closeCode, dial, handshake } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  const limits = { WS_MAX_FRAME_BYTES: '2048', WS_MAX_SUBSCRIPTIONS: '5', WS_MAX_PER_TOKEN: '8' };
  api = await startApi(db.url, limits);
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

interface Client extends Disposable {
  socket: WebSocket;
  frames: ServerFrame[];
  send: (frame: unknown) => void;
}

async function open(): Promise<Client> {
  const socket = dial(api.url);
  const frames: ServerFrame[] = [];
  socket.on('message', (data: Buffer) => frames.push(ServerFrame.parse(JSON.parse(data.toString('utf8')))));
  expect(await handshake(socket)).toBe(101);
  return {
    socket,
    frames,
    send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    [Symbol.dispose]: () => socket.terminate(),
  };
}

const ring = () => db.pool.query(`select pg_notify('wfg_events', '{"v":1,"settle":true}')`);
/** Whether the server still answers. */
async function answers(client: Client): Promise<void> {
  const before = client.frames.filter(({ op }) => op === 'pong').length;
  client.send({ op: 'ping' });
  await waitFor('a pong', () => client.frames.filter(({ op }) => op === 'pong').length > before);
}

test('runs that fit come, change and go', async () => {
  const old = await submit(db.pool, { a: {} });
  using client = await open();
  client.send({ op: 'subscribe', id: 'all', topic: 'runs', limit: 2 });
  client.send({ op: 'subscribe', id: 'done', topic: 'runs', status: 'completed' });
  const of = (id: string) => client.frames.filter((frame) => 'id' in frame && frame.id === id);
  await waitFor('the snapshots', () => of('all').length === 1 && of('done').length === 1);
  expect(of('all')[0]).toMatchObject({ op: 'snapshot', runs: [{ run_id: old, status: 'pending' }] });
  expect(of('done')[0]).toEqual({ op: 'snapshot', id: 'done', runs: [] });

  const told = (id: string, run: string, status: string) =>
    of(id).some((frame) => frame.op === 'run' && frame.run.run_id === run && frame.run.status === status);
  const second = await submit(db.pool, { a: {} });
  await ring();
  await waitFor('the second', () => told('all', second, 'pending'));
  const third = await submit(db.pool, { a: {} });
  await ring();
  await waitFor('the third', () => told('all', third, 'pending'));
  await waitFor('the first to be pushed out', () =>
    of('all').some((frame) => frame.op === 'gone' && 'run_id' in frame && frame.run_id === old),
  );
  const jobs = await claim(db.pool, { limit: 3 });
  for (const job of jobs) await finish(db.pool, job);
  await advance(db.pool);
  await ring();
  await waitFor('their end', () => told('all', second, 'completed') && told('all', third, 'completed'));
  await waitFor('all of them', () => told('done', old, 'completed') && told('done', third, 'completed'));
  const revs = of('all').flatMap((frame) =>
    frame.op === 'run' && frame.run.run_id === third ? frame.run.rev : [],
  );
  expect(revs).toEqual(revs.toSorted((a, b) => a - b));
});

test('workers and numbers come, change and go', async () => {
  using client = await open();
  client.send({ op: 'subscribe', id: 'w', topic: 'workers' });
  client.send({ op: 'subscribe', id: 's', topic: 'stats' });
  const of = (id: string) => client.frames.filter((frame) => 'id' in frame && frame.id === id);
  await waitFor('the snapshots', () => of('w').length === 1 && of('s').length === 1);
  expect(of('w')).toEqual([{ op: 'snapshot', id: 'w', workers: [] }]);
  const register = { worker_id: 'w1', labels: ['gpu'] };
  expect(await api.ask('POST', '/api/workers/register', register)).toMatchObject({ status: 200 });
  await waitFor('the worker', () => of('w').some((frame) => frame.op === 'worker'));
  expect(of('w').at(-1)).toMatchObject({ op: 'worker', worker: { worker_id: 'w1', labels: ['gpu'] } });
  await api.ask('DELETE', '/api/workers/w1');
  await waitFor('it to be gone', () => of('w').some((frame) => frame.op === 'gone'));
  await api.wfg(createEvent, { body: { workflow_type: 't' } });
  await waitFor('the event to be counted', () =>
    of('s').some(
      (frame) => frame.op === 'stats' && frame.stats.pending === 1 && frame.stats.jobs.pending === 1,
    ),
  );
});

test('limits are told, and take nothing from what is within them', async () => {
  using client = await open();
  for (let n = 0; n < 6; n++) client.send({ op: 'subscribe', id: `s${n}`, topic: 'workers' });
  await waitFor('the refusal', () => client.frames.some(({ op }) => op === 'error'));
  expect(client.frames.find(({ op }) => op === 'error')).toMatchObject({
    code: 'too_many',
    id: 's5',
    detail: 'a socket has at most 5 subscriptions: unsubscribe, or open another',
  });
  client.send({ op: 'unsubscribe', id: 's0' });
  client.send({ op: 'subscribe', id: 's5', topic: 'workers' });
  await waitFor('room', () => client.frames.some((f) => f.op === 'snapshot' && f.id === 's5'));
  const closed = closeCode(client.socket);
  client.send({ op: 'subscribe', id: 'x'.repeat(3_000), topic: 'workers' });
  expect(await closed).toBe(1009);

  const others = await Promise.all(Array.from({ length: 8 }, open));
  await using refused = Object.assign(dial(api.url), { [Symbol.asyncDispose]: async () => undefined });
  const [, response] = await once(refused, 'unexpected-response');
  expect(response).toMatchObject({ statusCode: 429, headers: { 'retry-after': '60' } });
  const [body] = await once(response.setEncoding('utf8'), 'data');
  expect(JSON.parse(body)).toMatchObject({
    code: 'too_many_requests',
    detail: '8 viewers without a token are the most: close some, or raise WS_MAX_PER_TOKEN',
  });
  const { status } = await api.ask('GET', `/api/runs/${await submit(db.pool, { a: {} })}/jobs/a/logs/stream`);
  expect(status).toBe(429);
  for (const one of others) one[Symbol.dispose]();
  await waitFor('room for others', async () => {
    const socket = dial(api.url);
    const code = await handshake(socket);
    socket.terminate();
    return code === 101;
  });
});

const id = oneof(string({ maxLength: 300 }), constantFrom('a', 'b'), anything());
const frame = oneof(
  record({
    op: constantFrom('subscribe', 'unsubscribe', 'resync', 'ping', 'pong', 'end'),
    id,
    topic: anything(),
  }),
  record({
    op: constantFrom('subscribe'),
    id,
    topic: constantFrom('run', 'logs', 'runs', 'workers', 'stats', 'all'),
    run: anything(),
    job: anything(),
    after: anything(),
    limit: anything(),
    status: anything(),
  }),
  anything(),
);

test('whatever a client sends, it is answered, and the process lives', { timeout: 120_000 }, async () => {
  using client = await open();
  await check(
    asyncProperty(frame, async (sent) => {
      // What JSON has no word for is sent as text of its own.
      client.send(
        JSON.stringify(sent, (_key, value) => (typeof value === 'bigint' ? String(value) : value)) ?? '!',
      );
      await answers(client);
    }),
    { numRuns: 150 },
  );
  client.socket.send(Buffer.from([0, 255, 1]), { binary: true });
  client.socket.send('{"op":"pi', { fin: false });
  client.socket.send('ng"}', { fin: true });
  await answers(client);
  for (let n = 0; n < 3_000; n++) {
    client.send({ op: 'subscribe', id: 'again', topic: n % 2 === 0 ? 'workers' : 'runs' });
    client.send({ op: 'resync', id: 'again' });
    client.send({ op: 'unsubscribe', id: 'again' });
    client.send({ op: 'unsubscribe', id: 'never' });
  }
  await answers(client);
  client.send({ op: 'subscribe', id: 'last', topic: 'workers' });
  const last = await waitFor('the last', () =>
    client.frames.find((f) => f.op === 'snapshot' && f.id === 'last'),
  );
  expect(last).toHaveProperty('workers');
});

test('who answers no ping is dropped, and who answers stays', { timeout: 90_000 }, async () => {
  using client = await open();
  const { hostname, port } = new URL(api.url);
  const silent = connect(Number(port), hostname);
  await once(silent, 'connect');
  const key = Buffer.alloc(16, 7).toString('base64');
  const head = ['GET /ws HTTP/1.1', `Host: ${hostname}:${port}`, 'Connection: Upgrade', 'Upgrade: websocket'];
  const own = ['Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`, 'Sec-WebSocket-Protocol: wfg.v1'];
  silent.write(`${[...head, ...own].join('\r\n')}\r\n\r\n`);
  const [answer] = await once(silent.setEncoding('latin1'), 'data');
  expect(answer).toMatch(/^HTTP\/1.1 101/);
  silent.resume();
  silent.on('error', () => undefined);
  await once(silent, 'close');
  await answers(client);
});

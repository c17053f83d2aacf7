// Bodies that come slowly, or not to their end: they keep nobody waiting, and what was not sent whole is not done.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const BODY = '{"workflow_type":"test.slow"}';
/** More than requests are worked on at once. */
const MANY = 40;

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

/** Sends the head of a POST of an event, and half of its body. */
async function begin(): Promise<Socket> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  await once(socket, 'connect');
  const head = ['POST /workflows HTTP/1.1', 'host: localhost', 'content-type: application/json'];
  socket.write(`${head.join('\r\n')}\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY.slice(0, 10)}`);
  return socket;
}

const events = async () => (await api.ask('GET', '/workflows')).body;

test('many requests whose bodies do not come keep nobody waiting, and are served when they do', async () => {
  const slow = await Promise.all(Array.from({ length: MANY }, begin));
  expect(await events()).toEqual([]);
  expect(await api.ask('POST', '/workflows', { workflow_type: 'test.quick' })).toMatchObject({ status: 201 });
  for (const socket of slow) socket.write(BODY.slice(10));
  const answers = await Promise.all(slow.map(async (socket) => String((await once(socket, 'data'))[0])));
  expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 201 '))).toHaveLength(MANY);
  for (const socket of slow) socket.destroy();
  expect(await events()).toHaveLength(MANY + 1);
});

test('a body that is cut off is nothing, and no error of ours', async () => {
  const before = await events();
  const cut = await Promise.all(Array.from({ length: MANY }, begin));
  await api.ask('GET', '/ready');
  for (const socket of cut) socket.destroy();
  await waitFor('them to be gone', () => cut.every((socket) => socket.closed));
  expect(await events()).toEqual(before);
  expect(api.logs.filter(({ level }) => level === 'error')).toEqual([]);
});

test('long workflows in YAML are read one after another, keep nobody waiting, and too many are sent away', async () => {
  const { body } = await api.ask('POST', '/workflows', { workflow_type: 'test.quick' });
  const text = `# ${'x'.repeat(70_000)}\nname: long\njobs: { a: { run: 'true' } }\n`;
  const statuses: number[] = [];
  const retryAfter = new Set<string | null>();
  const posts = Array.from({ length: MANY }, async () => {
    const answer = await api.ask('POST', '/api/workflows', text, { 'content-type': 'application/yaml' });
    statuses.push(answer.status);
    if (answer.status === 503) retryAfter.add(answer.headers.get('retry-after'));
  });
  await waitFor('some to be sent away', () => statuses.includes(503));
  expect(await api.ask('GET', `/workflows/${Object(body).id}/status`)).toMatchObject({ status: 200 });
  // It was answered before them.
  expect(statuses.filter((status) => status === 201).length).toBeLessThan(5);
  await Promise.all(posts);
  expect(new Set(statuses)).toEqual(new Set([201, 503]));
  expect([...retryAfter]).toEqual(['2']);
  expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(11);
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(20);
});

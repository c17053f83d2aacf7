// What a terminal is told while it follows a log: why it has to wait, and what came of the job.
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import { startApi } from '../support/api.ts';
import { claim, finish, submit } from '../support/engine.ts';
import { follow } from '../support/follower.ts';
import { testDatabase } from '../support/postgres.ts';
import { dial, handshake } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';

test('an api with all the viewers it may have says so, and follows when there is room', async () => {
  await using db = await testDatabase();
  await using api = await startApi(db.url, { WS_MAX_VIEWERS: '1' });
  const run = await submit(db.pool, { a: {} });
  const [job] = await claim(db.pool, { limit: 1 });
  const viewer = dial(api.url);
  expect(await handshake(viewer)).toBe(101);
  using log = follow(api.url, 'logs', run, 'a', '-f');
  await waitFor('it to be told', () =>
    log.said.some((line) => /refuses for now: .*WS_MAX_VIEWERS/.test(line)),
  );
  viewer.close();
  await waitFor('it to be let in', () => log.said.includes('wfg: connected'));
  if (job) await finish(db.pool, job, { outcome: 'failed', error: 'worker lost\nmore of it' });
  expect(await log.done).toBe(0);
  expect(log.said.at(-1)).toBe('wfg: a is failed: worker lost');
  expect(log.said.filter((line) => line.includes('refuses'))).toHaveLength(1);
});

test('who does not ask for the subprotocol is told its name', async () => {
  await using db = await testDatabase();
  await using api = await startApi(db.url);
  const plain = new WebSocket(`${api.url.replace('http', 'ws')}/ws`);
  const [, answer] = await once(plain, 'unexpected-response');
  plain.on('error', () => undefined);
  expect(answer.statusCode).toBe(400);
  expect(await json(answer)).toMatchObject({
    code: 'bad_protocol',
    detail: 'ask for the subprotocol wfg.v1',
  });
  const { status, body } = await api.ask('GET', '/ws');
  expect([status, body]).toMatchObject([
    400,
    { code: 'bad_protocol', detail: '/ws is a WebSocket: connect with the subprotocol wfg.v1' },
  ]);
});

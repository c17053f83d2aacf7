import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePort } from '@wfg/shared/runtime/free-port';
import { expect, test } from 'vitest';
import { choosePort } from './choose-port.ts';

const host = '127.0.0.1';

async function taken<T>(work: (port: number) => Promise<T>): Promise<T> {
  const port = await freePort();
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  try {
    return await work(port);
  } finally {
    server.close();
  }
}

test('a free port is taken as wished', async () => {
  const port = await freePort();
  expect(await choosePort({ host, port, byHand: true })).toBe(port);
  expect(await choosePort({ host, port: 0, byHand: true })).toBe(0);
});

test('the next free one instead of a taken one', async () => {
  const chosen = await taken(async (port) => (await choosePort({ host, port, byHand: false })) - port);
  expect(chosen).toBeGreaterThan(0);
});

test('a taken port that was set by hand is an error that says what to do', async () => {
  await expect(taken((port) => choosePort({ host, port, byHand: true }))).rejects.toThrow(
    /^PORT \d+ is taken: stop what uses it, set PORT to another/,
  );
});

test('an address that is not ours', async () => {
  await expect(choosePort({ host: '192.0.2.1', port: 3000, byHand: false })).rejects.toThrow(
    'cannot listen on HOST 192.0.2.1',
  );
});

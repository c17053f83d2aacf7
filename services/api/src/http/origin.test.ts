import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { checkOrigin, isLoopback, originPolicy } from './origin.ts';
import { onError } from './problems.ts';
import { pino } from 'pino';

test.each(['localhost', 'LOCALHOST', 'api.localhost', '127.0.0.1', '127.9.9.9', '[::1]', '::1'])(
  '%s is this machine',
  (name) => expect(isLoopback(name)).toBe(true),
);

test.each(['0.0.0.0', '::', '10.0.0.1', 'localhost.example', '127.0.0.1.example', 'evillocalhost', ''])(
  '%s is not',
  (name) => expect(isLoopback(name)).toBe(false),
);

const allows = originPolicy(['https://ci.example.org']);

test.each([
  ['http://localhost:3000', 'localhost:3000', true],
  ['http://127.0.0.1:3000', '127.0.0.1:3000', true],
  ['https://ci.example.org', 'localhost:3000', true],
  ['http://localhost:4000', 'localhost:3000', false],
  ['http://127.0.0.1:3000', 'localhost:3000', false],
  ['null', 'localhost:3000', false],
  ['http://ci.example.org', 'localhost:3000', false],
  // DNS rebinding: the page's own name leads to this machine.
  ['http://evil.example:3000', 'evil.example:3000', false],
])('a page of %s talking to %s: %s', (origin, host, allowed) => {
  expect(allows(origin, host)).toBe(allowed);
});

const app = new Hono()
  .onError(onError(pino({ level: 'silent' })))
  .use(checkOrigin(allows))
  .all('/', (c) => c.text('served'));
const ask = async (method: string, headers: Record<string, string>) =>
  (await app.request('/', { method, headers })).status;

test('a foreign host is refused even to readers', async () => {
  expect(await ask('GET', { host: 'evil.example:3000' })).toBe(403);
  expect(await ask('GET', { host: 'localhost:3000' })).toBe(200);
});

test('a foreign page may not change anything; what is no page may', async () => {
  const host = 'localhost:3000';
  expect(await ask('POST', { host, origin: 'http://evil.example' })).toBe(403);
  expect(await ask('DELETE', { host, origin: 'http://evil.example' })).toBe(403);
  expect(await ask('GET', { host, origin: 'http://evil.example' })).toBe(200);
  expect(await ask('POST', { host, origin: 'http://localhost:3000' })).toBe(200);
  expect(await ask('POST', { host })).toBe(200);
});

// What all services have in common, seen from outside: configuration, health, and how they end.

import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';

const SAMPLE = fileURLToPath(new URL('../support/sample-service.ts', import.meta.url));
const DATABASE_URL = 'postgres://me:secret@127.0.0.1:1/none';

function sample(behaviour: string, env: Record<string, string> = {}, ...args: string[]) {
  const child = startProcess('sample', [SAMPLE, ...args], { SAMPLE: behaviour, DATABASE_URL, ...env });
  const get = async (path: string) => {
    const { health_port } = await child.logged('started');
    const response = await fetch(`http://127.0.0.1:${String(health_port)}${path}`);
    return { status: response.status, body: await response.json() };
  };
  const messages = () => child.logs.map(({ msg }) => msg);
  return {
    ...child,
    get,
    /** Resolves with the exit code when the process has ended and this was among its last words. */
    async endedSaying(...words: (string | RegExp)[]) {
      const { code } = await child.ended;
      for (const word of words) {
        await waitFor(
          `${String(word)} in ${messages().join()}`,
          () => messages().some((msg) => msg?.match(word)),
          2_000,
        );
      }
      return code;
    },
    messages,
  };
}

const IN_ORDER = ['started', 'stopping', 'disposed', 'stopped'];

test.for(['SIGTERM', 'SIGINT'] as const)('%s stops it in order', async (signal) => {
  const service = sample('runs');
  expect(await service.get('/health')).toEqual({ status: 200, body: { status: 'ok' } });
  await vi.waitFor(
    async () =>
      expect(await service.get('/ready')).toEqual({ status: 200, body: { ready: true, reasons: [] } }),
    10_000,
  );
  expect((await service.get('/unknown')).status).toBe(404);
  service.signal(signal);
  expect(await service.endedSaying('stopped')).toBe(0);
  expect(service.messages()).toEqual(IN_ORDER);
});

test('why it is not ready is said', async () => {
  await using service = sample('is not ready');
  await vi.waitFor(
    async () =>
      expect(await service.get('/ready')).toEqual({
        status: 503,
        body: { ready: false, reasons: ['listen: deaf for 14 s'] },
      }),
    10_000,
  );
  expect((await service.get('/health')).status).toBe(200);
});

test('health is there while it starts, and a start that waits can be stopped', async () => {
  const service = sample('starts slowly');
  expect(await service.get('/ready')).toEqual({ status: 503, body: { ready: false, reasons: ['starting'] } });
  service.signal('SIGTERM');
  expect(await service.endedSaying('stopped')).toBe(0);
});

test('it may end by itself', async () => {
  const service = sample('ends by itself');
  expect(await service.endedSaying('stopped')).toBe(0);
  expect(service.messages()).toEqual(IN_ORDER);
});

test('one that does not stop is ended soon after the grace', async () => {
  const service = sample('does not stop', { SHUTDOWN_GRACE_SECS: '0' });
  await service.logged('started');
  service.signal('SIGTERM');
  expect(await service.endedSaying('not stopped after 3 s: exiting at once')).toBe(1);
});

test('a second signal ends it at once, but not the same Ctrl-C arriving twice', async () => {
  const service = sample('does not stop');
  await service.logged('started');
  service.signal('SIGINT');
  await service.logged('stopping');
  service.signal('SIGTERM');
  expect(await service.get('/ready')).toEqual({ status: 503, body: { ready: false, reasons: ['stopping'] } });
  const since = performance.now();
  await waitFor('another keypress', () => performance.now() - since > 600);
  service.signal('SIGTERM');
  expect(await service.endedSaying('second signal SIGTERM: exiting at once')).toBe(1);
});

test.for([
  ['cannot start', 'the schema is too old: run wfg migrate'],
  ['is refused', /^no such password \(check the user and the password in DATABASE_URL\)$/],
  ['throws later', 'a bug'],
] as const)('an error ends it, with one clear line: %s', async ([behaviour, message]) => {
  expect(await sample(behaviour).endedSaying(message)).toBe(1);
});

test('a port that is taken is said clearly', async () => {
  await using first = sample('runs');
  const { health_port } = await first.logged('started');
  const second = sample('runs', { HEALTH_PORT: String(health_port) });
  expect(await second.endedSaying(/^HEALTH_PORT \d+ on HOST 127.0.0.1 cannot be used, set another: /)).toBe(
    1,
  );
});

test('a wrong configuration is told whole, with exit code 2', async () => {
  const service = sample('runs', { PORT: 'x', LOG_LEVEL: 'loud' });
  const code = await service.endedSaying(
    'LOG_LEVEL must be trace, debug, info, warn, error, fatal or silent, and is "loud"',
    'PORT must be a whole number from 0 to 65535, and is "x"',
  );
  expect(code).toBe(2);
});

test('--print-config shows the configuration without secrets', async () => {
  const service = sample('runs', { PORT: '80' }, '--print-config');
  expect(await service.endedSaying('}')).toBe(0);
  expect(JSON.parse(service.messages().join(''))).toEqual({
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    HEALTH_PORT: 0,
    SHUTDOWN_GRACE_SECS: 8,
    WFG_PARENT_PID: process.pid,
    DATABASE_URL: 'postgres://me:***@127.0.0.1:1/none',
    PORT: 80,
  });
});

test('it stops when the parent that started it is gone', async () => {
  const parent = startProcess(
    'parent',
    [
      '--eval',
      `require('node:child_process').spawn(process.execPath, [process.env.SAMPLE_FILE], {
         env: { ...process.env, WFG_PARENT_PID: process.pid }, stdio: 'inherit', detached: true });
       setInterval(() => {}, 1000);`,
    ],
    { SAMPLE: 'runs', DATABASE_URL, SAMPLE_FILE: SAMPLE },
  );
  await parent.logged('started');
  parent.signal('SIGKILL');
  await waitFor('the child to stop', () => parent.logs.some(({ msg }) => msg === 'stopped'), 5_000);
  expect(parent.logs.map(({ msg }) => msg)).toEqual(IN_ORDER);
  expect(parent.logs[1]).toMatchObject({ why: 'parent is gone' });
});

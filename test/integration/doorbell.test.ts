// Ringing: hints are merged, and a database that is away costs nothing but the hints.

import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { createPool } from '@wfg/shared/db/pool';
import { listener } from '../support/ear.ts';
import { testDatabase } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

const log = pino({ level: 'silent' });

test('the first hint is rung at once, and what follows in the same moment together', async () => {
  await using database = await testDatabase({ empty: true });
  await using ear = await listener(database.url);
  await using doorbell = createDoorbell(database.pool, log);
  doorbell.ring({ runs: ['a'] });
  for (let i = 0; i < 100; i++) doorbell.ring({ runs: ['b', 'c'], lanes: { '7': 1 } });
  doorbell.ring({ settle: true });
  await doorbell.flush();
  await vi.waitFor(() => expect(ear.bells).toHaveLength(2));
  expect(ear.bells).toEqual([
    { v: 1, runs: ['a'] },
    { v: 1, settle: true, lanes: { '7': 100 }, runs: ['b', 'c'] },
  ]);
});

test('after a silence the next is a first again', async () => {
  await using database = await testDatabase({ empty: true });
  await using ear = await listener(database.url);
  await using doorbell = createDoorbell(database.pool, log);
  for (const run of ['a', 'b', 'c']) {
    doorbell.ring({ runs: [run] });
    await doorbell.flush();
  }
  await vi.waitFor(() => expect(ear.bells.map((bell) => bell.runs)).toEqual([['a'], ['b'], ['c']]));
});

test('more ids than a payload holds are still a bell', async () => {
  await using database = await testDatabase({ empty: true });
  await using ear = await listener(database.url);
  await using doorbell = createDoorbell(database.pool, log);
  doorbell.ring({
    logs: Array.from({ length: 5_000 }, (_, i) => `${crypto.randomUUID()}-${i}`),
    settle: true,
  });
  await doorbell.flush();
  await vi.waitFor(() => expect(ear.bells).toEqual([{ v: 1, settle: true, all: true }]));
});

test('while the database is away hints are dropped, and rung again when it is back', async () => {
  await using database = await testDatabase({ empty: true });
  await using ear = await listener(database.url);
  await using proxy = await TcpProxy.start(database.url);
  const pool = createPool({ url: proxy.url, name: 'test', log });
  await using doorbell = createDoorbell(pool, log);
  doorbell.ring({ runs: ['before'] });
  await doorbell.flush();
  await proxy.close();
  doorbell.ring({ runs: ['meanwhile'] });
  await doorbell.flush();
  await proxy.open();
  doorbell.ring({ runs: ['after'] });
  await doorbell.flush();
  await vi.waitFor(() => expect(ear.bells.map((bell) => bell.runs)).toEqual([['before'], ['after']]));
  await pool.end();
});

test('disposal rings what is pending, and later hints are ignored', async () => {
  await using database = await testDatabase({ empty: true });
  await using ear = await listener(database.url);
  const doorbell = createDoorbell(database.pool, log);
  doorbell.ring({ runs: ['a'] });
  doorbell.ring({ runs: ['b'] });
  await doorbell[Symbol.asyncDispose]();
  doorbell.ring({ runs: ['c'] });
  await doorbell.flush();
  await vi.waitFor(() => expect(ear.bells.map((bell) => bell.runs)).toEqual([['a'], ['b']]));
});

// Ringing: hints are merged, and a database that is away costs nothing but the hints.

import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { createPool } from '@wfg/shared/db/pool';
import { listener } from '../support/ear.ts';
import { claimEvent, enqueue } from '../support/engine.ts';
import { testDatabase } from '../support/postgres.ts';
import { valueOf } from '../support/sql.ts';
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
    { v: 1, settle: true, lanes: { '7': 100 }, runs: ['b', 'c'], nonce: expect.any(Number) },
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

const HOUR_AGO = new Date(Date.now() - 3_600_000);

test('a lane is rung with what it requires, and again, once and by another nonce, if nobody takes what waits in it', async () => {
  await using database = await testDatabase();
  await using ear = await listener(database.url);
  await using doorbell = createDoorbell(database.pool, log);
  await enqueue(database.pool, 'a', { run_at: HOUR_AGO });
  const lane = await valueOf(database.pool, 'select lane::text from wfg_jobs');
  const bell = { v: 1, lanes: { [lane]: 1 }, requires: { [lane]: [':event a'] }, nonce: expect.any(Number) };
  doorbell.ring({ lanes: { [lane]: 1 } });
  await vi.waitFor(() => expect(ear.bells).toEqual([bell, bell]));
  expect(ear.bells[0]?.nonce).not.toBe(ear.bells[1]?.nonce);
  await claimEvent(database.pool, 'a');
  // Of another lane, so that all that comes after it would be heard too.
  await enqueue(database.pool, 'b', { run_at: HOUR_AGO });
  const other = await valueOf(database.pool, `select lane::text from wfg_jobs where workflow_type = 'b'`);
  doorbell.ring({ lanes: { [lane]: 1, [other]: 1 } });
  await vi.waitFor(() => expect(ear.bells).toHaveLength(4));
  // What it requires is remembered, so that nothing is read before it is rung.
  expect(ear.bells.map(({ lanes }) => Object.keys(lanes ?? {}))).toEqual([
    [lane],
    [lane],
    expect.arrayContaining([lane, other]),
    [other],
  ]);
});

test('a lane is rung again also while something else is rung all the time', async () => {
  await using database = await testDatabase();
  await using ear = await listener(database.url);
  await using doorbell = createDoorbell(database.pool, log);
  await enqueue(database.pool, 'a', { run_at: HOUR_AGO });
  const lane = await valueOf(database.pool, 'select lane::text from wfg_jobs');
  doorbell.ring({ lanes: { [lane]: 1 } });
  const other = setInterval(() => doorbell.ring({ runs: ['r'] }), 1);
  try {
    await vi.waitFor(
      () => expect(ear.bells.filter(({ lanes }) => lanes !== undefined)).toHaveLength(2),
      10_000,
    );
  } finally {
    clearInterval(other);
  }
});

test('for everyone a lane is rung without a nonce, and once', async () => {
  await using database = await testDatabase();
  await using ear = await listener(database.url);
  await using doorbell = createDoorbell(database.pool, log);
  for (const type of ['a', 'b']) await enqueue(database.pool, type, { run_at: HOUR_AGO });
  const [a, b] = await Promise.all(
    ['a', 'b'].map((type) =>
      valueOf(database.pool, 'select lane::text from wfg_jobs where workflow_type = $1', type),
    ),
  );
  doorbell.ring({ lanes: { [String(a)]: 1 }, everyone: true });
  await doorbell.flush();
  doorbell.ring({ lanes: { [String(b)]: 1 } });
  await vi.waitFor(() => expect(ear.bells).toHaveLength(3));
  expect(ear.bells.map(({ lanes, nonce }) => [Object.keys(lanes ?? {}), nonce !== undefined])).toEqual([
    [[a], false],
    [[b], true],
    [[b], true],
  ]);
});

test('a lane in which nothing waits any more is not rung', async () => {
  await using database = await testDatabase();
  await using ear = await listener(database.url);
  await using doorbell = createDoorbell(database.pool, log);
  doorbell.ring({ lanes: { '7': 1 } });
  await doorbell.flush();
  doorbell.ring({ lanes: { '7': 1 }, settle: true });
  await vi.waitFor(() => expect(ear.bells).toEqual([{ v: 1, settle: true }]));
});

// Hearing: the bell arrives, and keeps arriving whatever happens to the connection.

import { Client } from 'pg';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import type { Bell } from '@wfg/shared/contract/bell';
import { type Listening, listen, type Timing } from '@wfg/shared/db/listen';
import { testDatabase } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

const log = pino({ level: 'silent' });
const BRISK: Timing = { quietMs: 200, answerMs: 500 };

type Database = Awaited<ReturnType<typeof testDatabase>>;

class Ear implements AsyncDisposable {
  bells: Bell[] = [];
  stops: (string | null)[] = [];
  resyncs = 0;
  listening: Listening;

  constructor(url: string, timing?: Timing) {
    this.listening = listen({
      url,
      name: 'ear',
      log,
      onBell: (bell) => this.bells.push(bell),
      onStop: (workerId) => this.stops.push(workerId),
      onResync: () => this.resyncs++,
      timing,
    });
  }

  /** Resolves when bells arrive. */
  async hearing(timeout = 5_000): Promise<void> {
    await vi.waitUntil(() => this.listening.deafReason() === null, { timeout, interval: 10 });
  }

  /** Resolves when it is known that they do not. */
  async deaf(): Promise<void> {
    await vi.waitUntil(() => this.listening.deafReason() !== null, { timeout: 5_000, interval: 5 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.listening[Symbol.asyncDispose]();
  }
}

async function connections({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*) from pg_stat_activity where application_name = 'wfg-ear-listen' and datname = current_database()`,
  );
  return rows[0]?.count ?? 0;
}

/** Resolves when the server has as many; it may notice a lost one a moment later. */
async function connectionsAre(database: Database, count: number): Promise<void> {
  await vi.waitUntil(async () => (await connections(database)) === count, { timeout: 5_000 });
}

const notify = ({ pool }: Database, payload: string) =>
  pool.query('select pg_notify($1, $2)', ['wfg_events', payload]);

/** Rings from another connection and resolves when it was heard. */
async function ringAndHear(database: Database, ear: Ear, runs: string[]): Promise<void> {
  await notify(database, JSON.stringify({ v: 1, runs }));
  await vi.waitFor(() => expect(ear.bells).toContainEqual({ v: 1, runs }), { timeout: 2_000, interval: 10 });
}

test('bells are heard, and stop_worker, and nothing breaks it', async () => {
  await using database = await testDatabase({ empty: true });
  await using ear = new Ear(database.url);
  await ear.hearing();
  expect(ear.resyncs).toBe(1);
  expect(ear.bells).toEqual([{ v: 1, beat: true }]);
  for (const payload of ['stop_worker', '{"type":"stop_worker","worker_id":"w1"}', 'what?', '']) {
    await notify(database, payload);
  }
  await ringAndHear(database, ear, ['a']);
  expect(ear.stops).toEqual([null, 'w1']);
  expect(ear.bells.slice(1, 3)).toEqual([
    { v: 1, all: true },
    { v: 1, all: true },
  ]);
});

test('a handler that throws is not the end', async () => {
  await using database = await testDatabase({ empty: true });
  let bells = 0;
  const onBell = () => {
    if (++bells === 1) throw new Error('bad handler');
  };
  await using _ = listen({ url: database.url, name: 'ear', log, onBell, onResync: () => {} });
  await vi.waitFor(async () => {
    await notify(database, '{"v":1}');
    expect(bells).toBeGreaterThan(1);
  });
});

test('after its backend is terminated it hears again within 5 s, over one connection', async () => {
  await using database = await testDatabase({ empty: true });
  await using ear = new Ear(database.url);
  await ear.hearing();
  for (let round = 1; round <= 3; round++) {
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'wfg-ear-listen' and datname = current_database()`,
    );
    await ear.deaf();
    await ear.hearing();
    await ringAndHear(database, ear, [`round ${round}`]);
    // Told when it was lost, and when it was there again.
    expect(ear.resyncs).toBe(1 + 2 * round);
    await connectionsAre(database, 1);
  }
});

test('it starts while PostgreSQL is away, says so, and hears when it is there', async () => {
  await using database = await testDatabase({ empty: true });
  await using proxy = await TcpProxy.start(database.url);
  await proxy.close();
  await using ear = new Ear(proxy.url);
  expect(ear.listening.deafReason()).toBe('listen: deaf for 0 s');
  await vi.waitFor(() => expect(ear.listening.deafReason()).toBe('listen: deaf for 1 s'), { timeout: 2_000 });
  expect(ear.listening.pollMs()).toBeLessThanOrEqual(1_000);
  expect(ear.resyncs).toBe(0);
  await proxy.open();
  await ear.hearing(6_000);
  expect(ear.listening.pollMs()).toBeGreaterThan(5_000);
  await ringAndHear(database, ear, ['a']);
});

test('a connection lost again before its LISTEN was answered is replaced too', async () => {
  await using database = await testDatabase({ empty: true });
  await using proxy = await TcpProxy.start(database.url);
  await using ear = new Ear(proxy.url);
  await ear.hearing();
  const cutAgain = proxy.cutAt('LISTEN');
  proxy.cut();
  await cutAgain;
  await ear.hearing();
  await ringAndHear(database, ear, ['a']);
  await connectionsAre(database, 1);
  expect(ear.resyncs).toBe(3);
});

test('where nobody rings it rings itself, and so knows that it hears', async () => {
  await using database = await testDatabase({ empty: true });
  await using ear = new Ear(database.url, BRISK);
  await vi.waitFor(() => expect(ear.bells.length).toBeGreaterThan(3), { timeout: 5_000 });
  expect(ear.bells.every((bell) => bell.beat)).toBe(true);
  expect(ear.listening.deafReason()).toBeNull();
  expect(ear.resyncs).toBe(1);
});

test('where another rings often enough it does not', async () => {
  await using database = await testDatabase({ empty: true });
  await using loud = new Ear(database.url, BRISK);
  await loud.hearing();
  const ringers: number[] = [];
  const client = new Client({ connectionString: database.url });
  client.on('notification', ({ processId }) => ringers.push(processId));
  await client.connect();
  await client.query('listen wfg_events');
  await using ear = new Ear(database.url, { quietMs: 1_500, answerMs: 500 });
  await ear.hearing();
  const longEnough = () => ringers.length >= 9;
  await vi.waitUntil(longEnough, { timeout: 10_000 });
  // Once, when it had connected.
  const loudest = ringers.at(-1);
  expect(ringers.filter((pid) => pid !== loudest)).toHaveLength(1);
  await client.end();
});

test('on a network that went silent it finds itself deaf, drops the connection, and hears over a new one', async () => {
  await using database = await testDatabase({ empty: true });
  await using proxy = await TcpProxy.start(database.url);
  await using ear = new Ear(proxy.url, BRISK);
  await ear.hearing();
  proxy.stall();
  await ear.deaf();
  const { resyncs } = ear;
  expect(resyncs).toBe(2);
  proxy.unstall();
  await ear.hearing(12_000);
  expect(ear.resyncs).toBeGreaterThan(resyncs);
  await ringAndHear(database, ear, ['a']);
  await connectionsAre(database, 1);
});

test('disposal closes the connection at once, in whatever state it is', async () => {
  await using database = await testDatabase({ empty: true });
  await using proxy = await TcpProxy.start(database.url);
  const hearing = new Ear(proxy.url);
  await hearing.hearing();
  proxy.stall();
  const connecting = new Ear(proxy.url);
  await vi.waitUntil(() => proxy.connections === 2);
  const waiting = new Ear('postgres://nobody@127.0.0.1:1/none');
  const start = performance.now();
  for (const ear of [hearing, connecting, waiting]) await ear[Symbol.asyncDispose]();
  expect(performance.now() - start).toBeLessThan(1_000);
  await connectionsAre(database, 0);
});

// What it costs programs that enqueue in transactions of their own that wfg is told of it: commits with a NOTIFY wait for
// each other, through their flushes. Each pair measures as it is, and with wfg_ring_lane made to do nothing, one after the
// other; on a server that flushes. Prints rates, ratios and how many waited for the lock; asserts that all was stored.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, type Pool } from 'pg';
import { createPool } from '@wfg/shared/db/pool';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { startService } from '../support/process.ts';
import { report } from '../support/report.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf, startHandlerWorker } from '../support/worker.ts';

const PAIRS = 15;
const HALF_MS = 1_500;
/** From the change of what is measured until it is. */
const WARM_MS = 1_200;
const SAMPLE_MS = 20;
const MODULE = fileURLToPath(new URL('../support/handlers.ts', import.meta.url));
const LIMIT_MS = 600_000;

/** The lock for which transactions with notifications wait when they commit. */
const WAITING = `
select count(*)::int as count from pg_locks
where locktype = 'object' and database = 0 and classid = 'pg_database'::regclass and not granted`;

let postgres: OwnPostgres;
let pool: Pool;

beforeAll(async () => {
  postgres = await startOwnPostgres();
});

afterAll(() => postgres[Symbol.asyncDispose]());

beforeEach(async () => {
  await postgres.renew();
  pool = createPool({ url: postgres.url, name: 'bench', max: 4, log: pino({ level: 'silent' }) });
  await pool.query('create table orders (id bigint generated always as identity, note text)');
  return () => pool.end();
});

interface Half {
  rate: number;
  /** Connections that waited for the lock, on average. */
  waiting: number;
}

/** So many clients, each inserting a row and enqueueing an event in one transaction after another. */
async function load(type: string, clients: number): Promise<Half> {
  await pool.query(`truncate orders; delete from wfg_jobs where state = 'pending'`);
  await pool.query('vacuum wfg_jobs');
  let committed = 0;
  let from = 0;
  const samples: number[] = [];
  const stop = new AbortController();
  const connections = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new Client({ connectionString: postgres.url });
      await client.connect();
      return client;
    }),
  );
  const working = connections.map(async (client) => {
    while (!stop.signal.aborted) {
      await client.query('begin');
      await client.query(`insert into orders (note) values ('an order')`);
      await client.query(`select wfg_enqueue($1, '{"text":"x","times":0}')`, [type]);
      await client.query('commit');
      committed++;
    }
    await client.end();
  });
  await sleep(WARM_MS);
  from = committed;
  const start = performance.now();
  while (performance.now() - start < HALF_MS) {
    const { rows } = await pool.query<{ count: number }>(WAITING);
    samples.push(rows[0]?.count ?? 0);
    await sleep(SAMPLE_MS);
  }
  const rate = (committed - from) / ((performance.now() - start) / 1_000);
  stop.abort();
  await Promise.all(working);
  const { rows } = await pool.query<{ count: number }>('select count(*) from orders');
  expect(rows[0]?.count).toBe(committed);
  return { rate, waiting: samples.reduce((sum, count) => sum + count, 0) / samples.length };
}

/** Returns the median share of the rate that is left when somebody is told. */
async function compare(what: string, type: string, clients: number, pairs = PAIRS): Promise<number> {
  const { rows } = await pool.query<{ source: string }>(
    `select pg_get_functiondef('wfg_ring_lane(bigint, text[])'::regprocedure) as source`,
  );
  const told: Half[] = [];
  const untold: Half[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const halves = [
      async () => told.push(await load(type, clients)),
      async () => {
        await pool.query(`create or replace function wfg_ring_lane(lane bigint, required text[]) returns void
          language plpgsql as $$ begin end $$`);
        untold.push(await load(type, clients));
        await pool.query(String(rows[0]?.source));
      },
    ];
    for (const half of pair % 2 === 0 ? halves : halves.toReversed()) await half();
  }
  const name = `${clients} clients, ${what}`;
  report(
    `${name}: transactions a second`,
    told.map(({ rate }) => rate),
    0,
  );
  report(
    `${name}: with nobody told`,
    untold.map(({ rate }) => rate),
    0,
  );
  const shares = told.map(({ rate }, pair) => rate / (untold[pair]?.rate ?? Number.NaN));
  report(`${name}: of that`, shares, 2);
  report(
    `${name}: waiting for the lock`,
    told.map(({ waiting }) => waiting),
    2,
  );
  return shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 2)] ?? 0;
}

test('known fault 5: with a worker that handles them', { timeout: LIMIT_MS }, async () => {
  await using worker = startHandlerWorker(postgres.url, { LOG_LEVEL: 'info' }, [MODULE]);
  await using _ = startService('scheduler', { DATABASE_URL: postgres.url, LOG_LEVEL: 'info' });
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
  expect(await compare('a worker that handles them', 'test.print', 16)).toBeGreaterThan(0);
  expect(await compare('a worker that handles them', 'test.print', 64, 7)).toBeGreaterThan(0);
});

test('known fault 5: with nobody who handles them', { timeout: LIMIT_MS }, async () => {
  expect(await compare('no worker', 'test.print', 16)).toBeGreaterThan(0);
});

test('known fault 5: with a worker whose places are full', { timeout: LIMIT_MS }, async () => {
  const env = { LOG_LEVEL: 'info', HANDLER_CONCURRENCY: '1', SHUTDOWN_GRACE_SECS: '0' };
  await using worker = startHandlerWorker(postgres.url, env, [MODULE]);
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
  await pool.query(`select wfg_enqueue('test.wait', '{"gate":"/never"}')`);
  await waitFor('it to say that it is full', async () => {
    const { rows } = await pool.query(`select from wfg_workers where full_of <> '{}'`);
    return rows.length > 0;
  });
  expect(await compare('a worker that is full', 'test.wait', 16)).toBeGreaterThan(0);
});

test('for comparison, with a NOTIFY in each of them', { timeout: LIMIT_MS }, async () => {
  await pool.query(`create or replace function wfg_must_ring(required text[]) returns boolean
    language plpgsql as $$ begin return true; end $$`);
  const listener = new Client({ connectionString: postgres.url });
  await listener.connect();
  await listener.query('listen wfg_events');
  expect(await compare('always told', 'test.print', 16, 7)).toBeGreaterThan(0);
  expect(await compare('always told', 'test.print', 64, 7)).toBeGreaterThan(0);
  await listener.end();
});

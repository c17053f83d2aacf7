// How soon each process does new work when what kept it from its database has gone away: within 10 s.
import { setTimeout as sleep } from 'node:timers/promises';
import { createPool } from '@wfg/shared/db/pool';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { takeConnections } from '../support/take-connections.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { DOERS, type Doer, MODULE, SERVICES, workSecs } from '../support/work.ts';
import { reasonsOf } from '../support/worker.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';

const OUT_MS = 15_000;
/** Longer than a statement may take, and than one may wait for its turn. */
const LOCKED_MS = 25_000;
const USUAL_SECS = 10;
const LONGEST_SECS = 30;
/** Of one process in one outage: each reason once. */
const MOST_WARNINGS = 15;
/** Requests come in also while they cannot be served. */
const REQUEST_MS = 500;

interface Scene {
  postgres: OwnPostgres;
  pool: Pool;
  link: TcpProxy;
}

/** Each resolves when the cause is gone. */
const CAUSES: Record<string, (scene: Scene) => Promise<unknown>> = {
  'Postgres stopped': ({ postgres }) => postgres.restart(OUT_MS),
  'all backends killed': ({ pool }) =>
    pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like 'wfg-%' and application_name <> 'wfg-test'`),
  async 'link cut: refused'({ link }) {
    await link.close();
    await sleep(OUT_MS);
    await link.open();
  },
  async 'link cut: silent'({ link }) {
    link.freeze();
    await sleep(OUT_MS);
    link.thaw();
  },
  async 'half-open: answers lost'({ link }) {
    link.stall();
    await sleep(OUT_MS);
    link.unstall();
  },
  // What was open stays so, and silent; whoever connects anew is served at once.
  'half-open: forgotten': async ({ link }) => link.forget(),
  async max_connections({ postgres, pool }) {
    await using _ = await takeConnections(postgres.url, pool);
    await sleep(OUT_MS);
  },
  async 'log inserts fail'({ pool }) {
    await pool.query(`
      create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before insert on wfg_logs for each row execute function refuse()`);
    await sleep(OUT_MS);
    await pool.query('drop trigger refuse on wfg_logs');
  },
  async 'all statements wait'({ pool }) {
    const locker = await pool.connect();
    await locker.query(
      'begin; lock table wfg_jobs, wfg_runs, wfg_workers, wfg_reaper in access exclusive mode',
    );
    await sleep(LOCKED_MS);
    await locker.query('rollback');
    locker.release();
  },
};

let postgres: OwnPostgres;
let link: TcpProxy;
let pool: Pool;
let cluster: Cluster;
const rows: Record<string, string>[] = [];

beforeAll(async () => {
  postgres = await startOwnPostgres();
  await postgres.renew();
  link = await TcpProxy.start(postgres.url);
  const log = pino({ level: 'silent' });
  pool = createPool({ url: postgres.url, name: 'test', max: 6, idleTimeoutMs: 0, log });
  cluster = await startCluster(link, { env: { WFG_MODULES: MODULE, LEASE_TTL_SECS: '30' } });
});
afterAll(async () => {
  console.table(rows);
  await cluster[Symbol.asyncDispose]();
  await pool.end();
  await link[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

const allReady = () =>
  waitFor('all to be ready', async () => {
    const reasons = await Promise.all(SERVICES.flatMap((name) => cluster.of(name).map(reasonsOf)));
    return reasons.flat().length === 0;
  });

/** How many each has logged. */
const warnings = () =>
  SERVICES.map((name) => cluster.of(name)[0]?.logs.filter(({ level }) => level === 'warn').length ?? 0);

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const inSecs = (secs: Record<Doer, number>) => DOERS.map((name) => [name, `${secs[name].toFixed(1)} s`]);

test.for(Object.entries(CAUSES))('%s: all are back soon', async ([cause, strike]) => {
  const pids = SERVICES.map((name) => cluster.of(name)[0]?.pid);
  await workSecs(cluster, pool);
  await allReady();
  const known = warnings();
  const over = new AbortController();
  const asking = (async () => {
    while (!over.signal.aborted) {
      void fetch(`${cluster.url}/api/runs`).catch(() => undefined);
      await sleep(REQUEST_MS);
    }
  })();
  await strike({ postgres, pool, link });
  const secs = await workSecs(cluster, pool);
  over.abort();
  await asking;
  rows.push(Object.fromEntries([['cause', cause], ...inSecs(secs)]));
  expect(median(Object.values(secs))).toBeLessThan(USUAL_SECS);
  expect(Math.max(...Object.values(secs))).toBeLessThan(LONGEST_SECS);
  await allReady();
  for (const [index, count] of warnings().entries())
    expect(count - (known[index] ?? 0)).toBeLessThanOrEqual(MOST_WARNINGS);
  expect(SERVICES.map((name) => cluster.of(name)[0]?.pid)).toEqual(pids);
});

// Connections that cannot be had: a server that has none left, and a process all of whose own wait for something.
import { migrate } from '@wfg/shared/db/migrate';
import { createPool } from '@wfg/shared/db/pool';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@wfg/shared/runtime/embedded-postgres';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { submit } from '../support/engine.ts';
import { newGate } from '../support/gate.ts';
import type { ServiceName, TestProcess } from '../support/process.ts';
import { takeConnections } from '../support/take-connections.ts';
import { waitFor } from '../support/wait-for.ts';
import { MODULE, SERVICES, workSecs } from '../support/work.ts';
import { reasonsOf, ring } from '../support/worker.ts';

const log = pino({ level: 'silent' });
const BACK_SECS = 30;
/** How many connections of each wait at least; the api has six, a worker two. */
const ALL_WAIT = { 'wfg-api': 6, 'wfg-scheduler': 2, 'wfg-worker': 2, 'wfg-handlers': 1, 'wfg-reaper': 1 };
const Why = z.object({ message: z.string() });

// A server of its own, whose connections are nobody else's.
let server: EmbeddedPostgres;
let pool: Pool;
let cluster: Cluster;
beforeAll(async () => {
  server = await startEmbeddedPostgres({ throwaway: true, log, programs: process.env.PG_BIN });
  await migrate(server.url, log);
  pool = createPool({ url: server.url, name: 'test', max: 4, idleTimeoutMs: 0, log });
  cluster = await startCluster(server, { env: { WFG_MODULES: MODULE } });
  // Also opens all connections of the pool.
  await workSecs(cluster, pool);
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await pool.end();
  await server.stop();
});

function only(name: ServiceName): TestProcess {
  const [service] = cluster.of(name);
  if (!service) throw new Error(`there is no ${name}`);
  return service;
}

async function isAlive(service: TestProcess): Promise<boolean> {
  const { health_port } = await service.logged('started');
  return (await fetch(`http://127.0.0.1:${String(health_port)}/health`)).ok;
}

const NONE_LEFT = /failing for \d+ s: (sorry, too many clients|remaining connection slots).*max_connections/;

test('143: max_connections: each process stays, says once what is wrong and what to do, and goes on', async () => {
  {
    await using _ = await takeConnections(server.url, pool);
    for (const name of SERVICES) {
      await waitFor(`/ready of the ${name} to say so`, async () => {
        // The api asks for whoever asks it.
        await fetch(`${cluster.url}/api/runs`);
        return (await reasonsOf(only(name))).some((reason) => NONE_LEFT.test(reason));
      });
      expect(await isAlive(only(name))).toBe(true);
    }
    expect(await fetch(`${cluster.url}/api/runs`)).toMatchObject({ status: 503 });
  }
  const secs = await workSecs(cluster, pool);
  expect(Math.max(...Object.values(secs))).toBeLessThan(BACK_SECS);
  for (const name of SERVICES) {
    await waitFor(`the ${name} to be ready`, async () => (await reasonsOf(only(name))).length === 0);
    const warnings = only(name).logs.filter(({ level, msg }) => level === 'warn' && msg === 'step failed');
    expect(warnings).toContainEqual(
      expect.objectContaining({ advice: expect.stringContaining('raise max_connections') }),
    );
    const whys = warnings.map(({ err }) => Why.parse(err).message);
    expect(whys).toEqual([...new Set(whys)]);
    expect(only(name).logs).toContainEqual(expect.objectContaining({ msg: 'step works again' }));
  }
});

test('143: all connections of a process wait: it stays, serves what needs none, and goes on', async () => {
  const printing = newGate();
  const ending = newGate();
  await submit(pool, {
    printing: { run: `echo a; ${printing.wait}; echo b; ${ending.wait}` },
    ending: { run: ending.wait },
  });
  await ring(pool);
  await waitFor('both to run', async () => {
    const { rows } = await pool.query(`select from wfg_jobs where state = 'active'`);
    return rows.length === 2;
  });
  const locker = await pool.connect();
  await locker.query('begin; lock table wfg_jobs in access exclusive mode');
  await printing.open();
  await ending.open();
  await ring(pool);
  const asked = Array.from({ length: 15 }, () => fetch(`${cluster.url}/api/runs`));
  // Not all at the same moment: what has waited for long is given up, and asked for again after a pause.
  const most = new Map<string, number>();
  await waitFor('all that they ask to wait', async () => {
    const { rows } = await pool.query<{ name: string; count: number }>(
      `select application_name as name, count(*) from pg_stat_activity where wait_event_type = 'Lock' group by 1`,
    );
    for (const { name, count } of rows) most.set(name, Math.max(count, most.get(name) ?? 0));
    return Object.entries(ALL_WAIT).every(([name, count]) => (most.get(name) ?? 0) >= count);
  });
  for (const name of SERVICES) expect(await isAlive(only(name))).toBe(true);
  await locker.query('rollback');
  locker.release();
  // Who had waited as long as a request may was told so; the others are served.
  for (const answer of asked) expect([200, 503]).toContain((await answer).status);
  await workSecs(cluster, pool);
});

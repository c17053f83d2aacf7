// The connection over which a process hears bells is lost, and nothing else is.
import { expect, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { hears, isDeaf } from '../support/deaf.ts';
import { pickupMs } from '../support/pickup.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import type { TestProcess } from '../support/process.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { MODULE } from '../support/work.ts';
import { metricsOf } from '../support/worker.ts';

const ENQUEUE = `select wfg_enqueue('test.print') as id`;
/** Until it is known that a connection is lost, and another is there. */
const FOUND_OUT_MS = 20_000;
const JOBS = 20;
const SOON_MS = 2_000;
const ROUNDS = 20;
const BACK_MS = 5_000;
const AT_ONCE_MS = 1_000;

const listeners = (cluster: Cluster) =>
  (['api', 'scheduler', 'worker'] as const).flatMap((name) => cluster.of(name));

/** Has been deaf so many times at least, and is not now. */
async function hearsAfter(losses: number, one: TestProcess): Promise<boolean> {
  const text = await metricsOf(one);
  const [, deafened] = /^wfg_deafened_total (\d+)$/m.exec(text) ?? [];
  return Number(deafened) >= losses && /^wfg_deaf 0$/m.test(text);
}

const allHear = (listening: TestProcess[], losses: number, limitMs: number) =>
  waitFor(
    'each to hear again',
    async () => (await Promise.all(listening.map((one) => hearsAfter(losses, one)))).every(Boolean),
    limitMs,
  );

/** The number of those of each service. */
async function connections({ pool }: TestDatabase): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ name: string; count: number }>(
    `select application_name as name, count(*) from pg_stat_activity
     where datname = current_database() and application_name like 'wfg-%-listen' group by 1`,
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

test.skipIf(isDeaf)(
  'known fault 1: a listening connection that went silent is found out, named, and replaced',
  async () => {
    await using database = await testDatabase();
    await using proxy = await TcpProxy.start(database.url);
    const env = { DATABASE_DIRECT_URL: proxy.url, WFG_MODULES: MODULE };
    await using cluster = await startCluster(database, { env });
    const listening = listeners(cluster);
    await Promise.all(listening.map(hears));
    await pickupMs(database.pool, ENQUEUE);

    proxy.forget();
    await allHear(listening, 1, FOUND_OUT_MS);
    for (const { logs } of listening) {
      const lost = logs.find(({ msg }) => msg === 'not listening');
      expect(lost).toMatchObject({ level: 'warn', err: { message: 'own bell not heard within 2000 ms' } });
    }
    const times: number[] = [];
    while (times.length < JOBS) times.push(await pickupMs(database.pool, ENQUEUE));
    expect(times.filter((ms) => ms > SOON_MS)).toEqual([]);
  },
);

test.skipIf(isDeaf)(
  'known fault 2: a listening connection is replaced as often as it is ended, by one',
  async () => {
    await using database = await testDatabase();
    await using cluster = await startCluster(database, { env: { WFG_MODULES: MODULE } });
    const listening = listeners(cluster);
    await Promise.all(listening.map(hears));
    await pickupMs(database.pool, ENQUEUE);
    const oneEach = await connections(database);
    expect(oneEach).toEqual({ 'wfg-api-listen': 1, 'wfg-scheduler-listen': 1, 'wfg-worker-listen': 1 });

    const times: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name like 'wfg-%-listen'`,
      );
      await allHear(listening, round, BACK_MS);
      times.push(await pickupMs(database.pool, ENQUEUE));
      expect(await connections(database)).toEqual(oneEach);
    }
    expect(times.filter((ms) => ms > AT_ONCE_MS)).toEqual([]);
  },
);

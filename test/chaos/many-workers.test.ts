// known fault 6: all of twenty workers, of fifty places each, are started again at once on a server that has connections
// for a hundred: none is refused, and all that waits is done.
import { createPool } from '@wfg/shared/db/pool';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { sampleEach } from '../support/sample-each.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf } from '../support/worker.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';

const WORKERS = 20;
const PLACES = 50;
const JOBS = 4_000;
const SAMPLE_MS = 100;
/** Of one run; a hundred jobs each. */
const RUN_JOBS = 100;
const LIMIT_MS = 240_000;

let postgres: OwnPostgres;
let pool: Pool;
let cluster: Cluster;
beforeAll(async () => {
  postgres = await startOwnPostgres();
  await postgres.renew();
  // Has its connection before anyone.
  pool = createPool({
    url: postgres.url,
    name: 'test',
    max: 1,
    idleTimeoutMs: 0,
    log: pino({ level: 'silent' }),
  });
  await pool.query('select');
  cluster = await startCluster(postgres, {
    counts: { worker: WORKERS },
    env: { WORKER_CONCURRENCY: String(PLACES), LEASE_TTL_SECS: '30' },
  });
}, LIMIT_MS);
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await pool.end();
  await postgres[Symbol.asyncDispose]();
});

/** Notes the most of each kind that there were at once. */
async function count(most: Record<string, number>): Promise<void> {
  const { rows } = await pool.query<{ name: string; count: number }>(
    `select coalesce(application_name, 'all') as name, count(*) from pg_stat_activity
     where backend_type = 'client backend' group by rollup (application_name)`,
  );
  for (const { name, count } of rows) most[name] = Math.max(count, most[name] ?? 0);
}

test.for(['kill', 'restart'] as const)(
  'known fault 6: twenty workers at once: %s',
  { timeout: 2 * LIMIT_MS },
  async (how) => {
    const workers = Array.from({ length: WORKERS }, (_, index) => index);
    const all = [...cluster.of('worker')];
    const jobs = Object.fromEntries(
      Array.from({ length: RUN_JOBS }, (_, n) => [`j${n}`, { run: 'echo a; sleep 1; echo b', retries: 5 }]),
    );
    const runs = await Promise.all(
      Array.from({ length: JOBS / RUN_JOBS }, () => cluster.submit({ name: 'many', jobs })),
    );
    const most: Record<string, number> = {};
    await using _ = sampleEach(SAMPLE_MS, () => count(most));
    await waitFor('all to have jobs', async () => {
      const { rows } = await pool.query(`select distinct worker_id from wfg_jobs where state = 'active'`);
      return rows.length === WORKERS;
    });
    await Promise.all(workers.map((index) => cluster[how]('worker', index)));
    all.push(...cluster.of('worker'));
    const ended = await Promise.all(runs.map((run) => cluster.ended(run, LIMIT_MS)));
    expect(ended.filter(({ status }) => status !== 'completed')).toEqual([]);
    console.table(most);
    const services = [
      ...all,
      ...(['api', 'scheduler', 'reaper'] as const).flatMap((name) => cluster.of(name)),
    ];
    const refused = services.flatMap(({ logs }) =>
      logs.filter((line) => /too many clients|53300|remaining connection slots/.test(JSON.stringify(line))),
    );
    expect(refused).toEqual([]);
    for (const worker of cluster.of('worker')) expect(await reasonsOf(worker)).toEqual([]);
  },
);

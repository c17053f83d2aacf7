// What a system in which nothing happens asks of its database, each process by itself. The bounds are those of the
// design; they count statements, so that they hold on any machine.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { claimsSoFar, startCrowd } from '../support/crowd.ts';
import { submit } from '../support/engine.ts';
import { testDatabase } from '../support/postgres.ts';
import { type ServiceName, startService } from '../support/process.ts';
import { report } from '../support/report.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf } from '../support/worker.ts';

const MINUTES = 3;
const MOST = { api: 20, scheduler: 90, worker: 20, reaper: 20 };
const SERVICES: ServiceName[] = ['api', 'scheduler', 'worker', 'reaper'];

test('known fault 9: an idle system asks little', { timeout: 600_000 }, async () => {
  await using database = await testDatabase();
  await using stack = new AsyncDisposableStack();
  const proxies = new Map<ServiceName, TcpProxy>();
  for (const name of SERVICES) {
    const proxy = stack.use(await TcpProxy.start(database.url));
    const env = { DATABASE_URL: proxy.url, WORKFLOWS_DIR: 'none' };
    const service = stack.use(startService(name, env));
    await waitFor(`${name} to be ready`, async () => (await reasonsOf(service)).length === 0, 20_000);
    proxies.set(name, proxy);
  }
  // What is done once, at the start, is over.
  await sleep(15_000);
  const minutes = new Map(SERVICES.map((name) => [name, [] as number[]]));
  for (let minute = 0; minute < MINUTES; minute++) {
    const before = SERVICES.map((name) => proxies.get(name)?.statements ?? 0);
    await sleep(60_000);
    for (const [index, name] of SERVICES.entries())
      minutes.get(name)?.push((proxies.get(name)?.statements ?? 0) - (before[index] ?? 0));
  }
  for (const [name, counts] of minutes) report(`statements a minute: ${name}`, counts, 0);
  expect([...minutes].filter(([name, counts]) => Math.max(...counts) > MOST[name])).toEqual([]);
});

const CROWD = 50;
const CROWD_MINUTES = 2;
const JOBS = 10;

test('fifty idle workers ask no more each, and one job makes few of them ask', {
  timeout: 900_000,
}, async () => {
  await using database = await testDatabase();
  await using scheduler = startService('scheduler', { DATABASE_URL: database.url });
  await waitFor('it to be ready', async () => (await reasonsOf(scheduler)).length === 0);
  await using proxy = await TcpProxy.start(database.url);
  await using _ = await startCrowd(proxy.url, database.pool, CROWD, { SHUTDOWN_GRACE_SECS: '0' });
  await sleep(15_000);
  const each: number[] = [];
  const polls: number[] = [];
  for (let minute = 0; minute < CROWD_MINUTES; minute++) {
    const before = proxy.statements;
    const claimsBefore = await claimsSoFar();
    await sleep(60_000);
    each.push((proxy.statements - before) / CROWD);
    polls.push(((await claimsSoFar()) - claimsBefore) / 60);
  }
  report('statements a minute: each of fifty workers', each, 1);
  expect(Math.max(...each)).toBeLessThanOrEqual(MOST.worker);

  const claims: number[] = [];
  for (let job = 0; job < JOBS; job++) {
    const before = await claimsSoFar();
    const run = await submit(database.pool, { a: {} });
    await database.pool.query('select wfg_ring_lane(lane) from wfg_jobs where run_id = $1', [run]);
    await waitFor('it to be done', async () => {
      const { rows } = await database.pool.query(
        `select from wfg_history where run_id = $1 union all
         select from wfg_jobs where run_id = $1 and state = 'completed'`,
        [run],
      );
      return rows.length > 0;
    });
    claims.push((await claimsSoFar()) - before);
  }
  report('claims a second without a job, since it was time to look', polls, 1);
  report('claims for one job, and those that it was time for meanwhile', claims, 0);
  expect(claims.toSorted((a, b) => a - b)[JOBS / 2]).toBeLessThanOrEqual(5);
});

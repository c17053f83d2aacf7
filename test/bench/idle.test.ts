// What a system in which nothing happens asks of its database, each process by itself. The bounds are those of the
// design; they count statements, so that they hold on any machine.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { testDatabase } from '../support/postgres.ts';
import { type ServiceName, startService } from '../support/process.ts';
import { report } from '../support/report.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf } from '../support/worker.ts';

const MINUTES = 3;
const MOST = { api: 20, scheduler: 90, worker: 20, reaper: 20 };
const SERVICES: ServiceName[] = ['api', 'scheduler', 'worker', 'reaper'];

test('an idle system asks little', { timeout: 600_000 }, async () => {
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

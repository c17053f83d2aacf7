// How soon an idle system begins what psql inserts, with its bells and without any. Prints times; asserts only that all
// of it ran.
import { fileURLToPath } from 'node:url';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { pickupMs } from '../support/pickup.ts';
import { testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { report } from '../support/report.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf, startHandlerWorker } from '../support/worker.ts';

const ROUNDS = 20;
const TASKS = fileURLToPath(new URL('../support/tasks.ts', import.meta.url));
const VIEW = `insert into pg_task (step) values ('{"Greeter":{"SayHello":{"name":"you"}}}') returning id`;
/** As a program may that knows the table and rings for nothing. */
const TABLE = `
insert into wfg_jobs (run_id, position, job_id, name, workflow_type, step, state, kind, required_labels, payload)
values (wfg_uuid7(), 0, 'main', 'Greeter', 'Greeter', 'SayHello', 'pending', 'task', array[':task Greeter'],
  '{"Greeter":{"SayHello":{"name":"you"}}}') returning run_id as id`;

test('a row that is inserted is begun', { timeout: 600_000 }, async () => {
  await using database = await testDatabase();
  await using proxy = await TcpProxy.start(database.url);
  const direct = { DATABASE_DIRECT_URL: proxy.url };
  await using scheduler = startService('scheduler', { DATABASE_URL: database.url, ...direct });
  await using worker = startHandlerWorker(database.url, { LOG_LEVEL: 'info', ...direct }, [TASKS]);
  for (const one of [scheduler, worker])
    await waitFor('it to be ready', async () => (await reasonsOf(one)).length === 0);
  expect(await pickups(database.pool, VIEW, 3)).toHaveLength(3);

  report('ms until begun: pg_task, bells rung', await pickups(database.pool, VIEW), 0);
  report('ms until begun: wfg_jobs, no bell rung for it', await pickups(database.pool, TABLE), 0);
  proxy.stall();
  for (const one of [scheduler, worker])
    await waitFor('it to be deaf', async () => (await reasonsOf(one)).join().includes('deaf'));
  report('ms until begun: pg_task, no bell heard', await pickups(database.pool, VIEW), 0);
  report('ms until begun: wfg_jobs, no bell heard', await pickups(database.pool, TABLE), 0);
});

async function pickups(pool: Pool, insert: string, rounds = ROUNDS): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await pickupMs(pool, insert));
  return times;
}

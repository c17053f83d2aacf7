// Twenty processes that start at once on an empty database, again and again: each migration is applied once, and all that
// are to stay come to do their work.
import { fileURLToPath } from 'node:url';
import { readMigrations } from '@wfg/shared/db/migration-files';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { testDatabase } from '../support/postgres.ts';
import { type ServiceName, startProcess, startService, type TestProcess } from '../support/process.ts';
import { runsOf } from '../support/runs.ts';
import { waitFor } from '../support/wait-for.ts';
import { CLI } from '../support/wfg.ts';
import { NO_MODULES, reasonsOf } from '../support/worker.ts';

const MIGRATING = fileURLToPath(new URL('migrating.ts', import.meta.url));
const Applied = z.object({ applied: z.array(z.string()) });
const SERVICES = { api: 4, scheduler: 4, worker: 4, reaper: 3 } satisfies Record<ServiceName, number>;
const NAMES = ['api', 'scheduler', 'worker', 'reaper'] as const;

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, n) => make(n));

/** What they applied, when they have ended as they should. */
async function appliedBy(processes: readonly TestProcess[]): Promise<string[]> {
  const lines = processes.map(async (one) => {
    expect(await one.ended).toEqual({ code: 0, signal: null });
    return waitFor('what it applied', () => Applied.parse(one.logs.find(({ applied }) => applied)).applied);
  });
  return (await Promise.all(lines)).flat().sort();
}

test('fifty times, twenty that migrate', async () => {
  const names = (await readMigrations()).map(({ name }) => name);
  const since = performance.now();
  for (let round = 0; round < 50; round++) {
    await using database = await testDatabase({ empty: true });
    const processes = times(20, () => startProcess('migrate', [MIGRATING], { DATABASE_URL: database.url }));
    expect(await appliedBy(processes)).toEqual(names);
  }
  console.log(`fifty rounds took ${Math.round((performance.now() - since) / 1_000)} s`);
});

test('three times, five that migrate and fifteen services, which run a job', async () => {
  const names = (await readMigrations()).map(({ name }) => name);
  for (let round = 0; round < 3; round++) {
    await using stack = new AsyncDisposableStack();
    const database = stack.use(await testDatabase({ empty: true }));
    const env = { DATABASE_URL: database.url, WORKFLOWS_DIR: 'none', WFG_MODULES: NO_MODULES };
    const services = NAMES.flatMap((name) => times(SERVICES[name], () => stack.use(startService(name, env))));
    const migrating = times(5, () => startProcess('migrate', [CLI, 'migrate', '--json'], env));
    expect(await appliedBy(migrating)).toEqual(names);
    await waitFor('all to be ready', async () => {
      const reasons = await Promise.all(services.map(reasonsOf));
      return reasons.flat().length === 0;
    });
    const { url } = (await services[0]?.logged('listening')) ?? {};
    const { submit, ended } = runsOf({ url: String(url) });
    const run = await submit({ name: 'first', jobs: { a: { run: 'true' }, b: { run: 'true', needs: 'a' } } });
    expect((await ended(run)).status).toBe('completed');
  }
});

// What only `npm run test:pooler` can show, and runs: the rest of the suite then goes by way of PgBouncer too.
import { migrate } from '@wfg/shared/db/migrate';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { hears } from '../support/deaf.ts';
import { directUrl } from '../support/direct-url.ts';
import { testDatabase } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

const MIGRATORS = 5;
const JOBS = 20;

test('known fault 7: by way of a transaction pooler the schema is made and a run completes, and bells are heard past it', async () => {
  await using database = await testDatabase({ empty: true });
  const log = pino({ level: 'silent' });
  const applied = await Promise.all(Array.from({ length: MIGRATORS }, () => migrate(database.url, log)));
  const { rows } = await database.pool.query<{ name: string }>(
    'select name from wfg_migrations order by name',
  );
  expect(applied.flat().sort()).toEqual(rows.map(({ name }) => name));

  await using direct = await TcpProxy.start(directUrl(database.url));
  const env = { DATABASE_DIRECT_URL: direct.url };
  await using cluster = await startCluster(database, { counts: { worker: 2 }, env });
  const listening = (['api', 'scheduler', 'worker'] as const).flatMap((name) => cluster.of(name));
  await Promise.all(listening.map(hears));
  expect(direct.connections).toBe(listening.length);
  const jobs = Object.fromEntries(
    Array.from({ length: JOBS }, (_, n) => [`j${n}`, { run: `echo ${n}`, ...(n > 0 && { needs: 'j0' }) }]),
  );
  const run = await cluster.submit({ name: 'pooled', jobs });
  expect(await cluster.ended(run)).toMatchObject({ status: 'completed' });
  // What failed would have been done again.
  const services = [...listening, ...cluster.of('reaper')];
  expect(services.flatMap(({ logs }) => logs.filter(({ err }) => err !== undefined))).toEqual([]);
});

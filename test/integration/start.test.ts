// The start of services whose database is not there yet.
import { assertSchema } from '@wfg/shared/db/assert-schema';
import { createPool } from '@wfg/shared/db/pool';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf } from '../support/worker.ts';

test('a database that is away is waited for, however long, and the schema is judged when it is there', async () => {
  await using database = await testDatabase();
  await using proxy = await TcpProxy.start(database.url);
  await proxy.close();
  const pool = createPool({ url: proxy.url, name: 'test', log: pino({ level: 'silent' }) });
  const reasons: string[] = [];
  const waiting = assertSchema(pool, { waitMs: 0, onWait: (why) => reasons.push(why) });
  await waitFor('it to have looked twice', () => reasons.length >= 2);
  expect(reasons[1]).toMatch(/^the database is away: connect ECONNREFUSED/);
  await proxy.open();
  await waiting;
  await pool.end();
});

test('a service that finds no database says so, stays, and starts when it comes; a signal ends the waiting', async () => {
  await using database = await testDatabase();
  await using proxy = await TcpProxy.start(database.url);
  await proxy.close();
  const env = { DATABASE_URL: proxy.url };
  const stopped = startService('reaper', env);
  await using reaper = startService('reaper', env);
  for (const service of [stopped, reaper])
    await waitFor('/ready to say it', async () =>
      String(await reasonsOf(service)).startsWith('starting: the database is away: '),
    );
  stopped.signal('SIGTERM');
  expect(await stopped.ended).toEqual({ code: 0, signal: null });
  await proxy.open();
  await waitFor('it to be ready', async () => (await reasonsOf(reaper)).length === 0);
});

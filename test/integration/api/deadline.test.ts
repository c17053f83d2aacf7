// When a request that takes long is given up: when the database is silent, and not when it is slow or full.
import { databaseDeadline } from '../../../services/api/src/http/deadline.ts';
import { createPool } from '@wfg/shared/db/pool';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

test('a slow answer is waited for, also where no further connection can be had', async () => {
  await using database = await testDatabase();
  const { url, pool: admin } = database;
  const name = new URL(url).pathname.slice(1);
  const log = pino({ level: 'silent' });
  const pool = createPool({ url, name: 'slow', log });
  const limit = (most: number) => admin.query(`alter database "${name}" connection limit ${most}`);
  try {
    await using deadline = databaseDeadline(pool, url, log);
    await pool.query('select 1');
    await waitFor('its own connection', async () => {
      const { rows } = await admin.query(
        `select from pg_stat_activity where datname = $1 and application_name = 'wfg-api-check'`,
        [name],
      );
      return rows.length === 1;
    });
    // Of no effect on a superuser.
    await limit(0);
    const slow = deadline.watch(async () => (await pool.query('select pg_sleep(2.5), 7 as answer')).rows[0]);
    expect(await slow).toMatchObject({ answer: 7 });
  } finally {
    await limit(-1);
    await pool.end();
  }
});

// When a request that takes long is given up: when the database is silent, and not when it is slow or full.
import { randomUUID } from 'node:crypto';
import { databaseDeadline } from '../../../services/api/src/http/deadline.ts';
import { createPool } from '@wfg/shared/db/pool';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

test('a slow answer is waited for, also where no further connection can be had', async () => {
  await using database = await testDatabase();
  const role = `slow_${randomUUID().replaceAll('-', '')}`;
  await database.pool.query(`create role ${role} login password 'x'`);
  const url = new URL(database.url);
  url.username = role;
  url.password = 'x';
  const log = pino({ level: 'silent' });
  const pool = createPool({ url: url.href, name: 'slow', log });
  try {
    await using deadline = databaseDeadline(pool, url.href, log);
    await pool.query('select 1');
    const connections = async () => {
      const { rows } = await database.pool.query(`select from pg_stat_activity where usename = $1`, [role]);
      return rows.length;
    };
    await waitFor('its own connection', async () => (await connections()) === 2);
    await database.pool.query(`alter role ${role} connection limit 0`);
    const slow = deadline.watch(async () => (await pool.query('select pg_sleep(2.5), 7 as answer')).rows[0]);
    expect(await slow).toMatchObject({ answer: 7 });
  } finally {
    await pool.end();
    await database.pool.query(`drop role ${role}`);
  }
});

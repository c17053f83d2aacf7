// A database of its own for each test.

import { randomBytes } from 'node:crypto';
import { createPool } from '@wfg/shared/db/pool';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import { asAdmin, databaseUrl, dropDatabase } from './admin.ts';

export interface TestDatabase extends AsyncDisposable {
  url: string;
  pool: Pool;
}

/** A new database with wfg's schema, or `empty`; dropped when disposed of, whoever is still connected. */
export async function testDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const { url: common, server, prefix } = inject('databases');
  const name = `${prefix}_${randomBytes(4).toString('hex')}`;
  const template = empty ? 'template0' : `${prefix}_template`;
  await asAdmin(server, (admin) => admin.query(`create database ${name} template ${template}`));
  const url = databaseUrl(common, name);
  const pool = createPool({ url, name: 'test', max: 10, log: pino({ level: 'silent' }) });
  return {
    url,
    pool,
    async [Symbol.asyncDispose]() {
      await pool.end();
      await asAdmin(server, (admin) => dropDatabase(admin, name));
    },
  };
}

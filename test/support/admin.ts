// A moment's connection to the test server, to make and drop databases.

import { Client } from 'pg';
import { waitFor } from './wait-for.ts';

export async function asAdmin<T>(url: string, work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

/** The same server, another database. */
export function databaseUrl(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/**
 * Drops a database, whoever is connected to it. PostgreSQL 15 refuses while its own vacuum is there, which another user
 * may not end: that is waited for.
 */
export async function dropDatabase(admin: Client, name: string): Promise<void> {
  await waitFor(`${name} to be dropped`, async () => {
    await admin.query(`drop database if exists ${name} with (force)`);
    return true;
  });
}

// Waits until a started server answers, and gives it the user and the database that wfg uses.

import { setTimeout as sleep } from 'node:timers/promises';
import { Client, escapeLiteral } from 'pg';
import type { Logger } from 'pino';
import { isConnectionError } from '../db/sqlstate.ts';

const POLL_MS = 50;
const SAY_SO_MS = 10_000;

/**
 * Returns the URL of database `wfg` for its owner, the ordinary user `wfg`. `failed` tells why the server has
 * ended, if it has. Throws at `deadline` (epoch milliseconds), when the server ends, or refuses us for good.
 */
export async function openDatabase(server: {
  port: number;
  password: string;
  throwaway: boolean;
  deadline: number;
  failed(): string | undefined;
  log: Logger;
}): Promise<string> {
  const admin = await connect(server);
  try {
    const found = await admin.query<{ role: boolean; database: boolean }>(
      `select exists (select from pg_roles where rolname = 'wfg') as role,
              exists (select from pg_database where datname = 'wfg') as database`,
    );
    const { role, database } = found.rows[0] ?? { role: false, database: false };
    // Not a superuser: wfg needs none, and this way its own database proves it. Tests clone databases.
    const rights = server.throwaway ? 'createdb' : 'nocreatedb';
    if (!role)
      await admin.query(`create role wfg login ${rights} password ${escapeLiteral(server.password)}`);
    if (!database) await admin.query('create database wfg owner wfg');
  } finally {
    await admin.end();
  }
  return `postgres://wfg:${server.password}@127.0.0.1:${server.port}/wfg`;
}

async function connect(server: Parameters<typeof openDatabase>[0]): Promise<Client> {
  let quietUntil = Date.now() + SAY_SO_MS;
  for (;;) {
    const reason = server.failed();
    if (reason !== undefined) throw new Error(reason);
    const client = new Client({
      host: '127.0.0.1',
      port: server.port,
      user: 'postgres',
      database: 'postgres',
      password: server.password,
      connectionTimeoutMillis: 5_000,
    });
    // A server that ends under this connection says so by `failed`.
    client.on('error', () => {});
    try {
      await client.connect();
      return client;
    } catch (err) {
      await client.end().catch(() => {});
      if (!isConnectionError(err) || Date.now() > server.deadline) throw err;
    }
    if (Date.now() > quietUntil) {
      server.log.info('the database is still starting: recovery after a crash can take minutes');
      quietUntil = Date.now() + SAY_SO_MS;
    }
    await sleep(POLL_MS);
  }
}

// Once for a run of vitest: one PostgreSQL server with a migrated template to clone, and at the end the check
// that nothing is left running.

import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@wfg/shared/db/migrate';
import type { Client } from 'pg';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { asAdmin, databaseUrl, dropDatabase } from './admin.ts';
import { chooseServer } from './choose-server.ts';
import { endLeftProcesses } from './left-processes.ts';
import { startPooler } from './pooler.ts';
import { TcpProxy } from './tcp-proxy.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server's URL as all have it, as it is itself, and what the names of this run's databases begin with. */
    databases: { url: string; server: string; prefix: string };
    /** TMPDIR of everything that the tests start: how they are known as ours. */
    runFolder: string;
    /** No notification reaches anyone: WFG_TEST_DEAF is set. */
    isDeaf: boolean;
    /** All but listeners connect by way of PgBouncer: WFG_TEST_POOLER is set. */
    isPooled: boolean;
  }
}

interface Run {
  databases: { url: string; server: string; prefix: string };
  runFolder: string;
  isDeaf: boolean;
  isPooled: boolean;
  end(): Promise<void>;
}

declare global {
  /**
   * Each project of the run evaluates this file by itself, in the same process; they share what it starts.
   */
  var wfgTestRun: { run: Promise<Run>; users: number } | undefined;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  globalThis.wfgTestRun ??= { run: begin(), users: 0 };
  const current = globalThis.wfgTestRun;
  current.users++;
  const run = await current.run;
  project.provide('databases', run.databases);
  project.provide('runFolder', run.runFolder);
  project.provide('isDeaf', run.isDeaf);
  project.provide('isPooled', run.isPooled);
  return async () => {
    if (--current.users === 0) await run.end();
  };
}

async function begin(): Promise<Run> {
  const server = await chooseServer(process.env);
  const pooler = process.env.WFG_TEST_POOLER ? await startPooler(server.url) : undefined;
  const mute = process.env.WFG_TEST_DEAF ? await TcpProxy.start(server.url) : undefined;
  mute?.mute();
  const runFolder = await mkdtemp(join(tmpdir(), 'wfg-test-'));
  // As root, the user of an embedded PostgreSQL must get in.
  await chmod(runFolder, 0o755);
  const prefix = `wfg_test_${randomBytes(4).toString('hex')}`;
  const databases = { url: pooler?.url ?? mute?.url ?? server.url, server: server.url, prefix };
  const template = `${prefix}_template`;
  const version = await asAdmin(server.url, async (admin) => {
    await admin.query(`create database ${template}`);
    const found = await admin.query<{ server_version: string }>('show server_version');
    return found.rows[0]?.server_version;
  });
  console.log(
    `tests run on PostgreSQL ${version}: ${server.description}${mute ? ', no notification passes' : ''}${pooler ? ', by way of PgBouncer' : ''}`,
  );
  await migrate(databaseUrl(databases.url, template), pino({ level: 'warn' }));
  if (pooler) await endConnections(server.url, template);
  return {
    databases,
    runFolder,
    isDeaf: mute !== undefined,
    isPooled: pooler !== undefined,
    async end() {
      const left = await endLeftProcesses(runFolder);
      await asAdmin(server.url, (admin) => dropAll(admin, prefix));
      await mute?.[Symbol.asyncDispose]();
      await pooler?.stop();
      await server.stop();
      await rm(runFolder, { recursive: true, force: true });
      if (left.length > 0) throw new Error(`the tests left processes running:\n${left.join('\n')}`);
    },
  };
}

/** Those that a pooler keeps: a database is no template while somebody is connected to it. */
async function endConnections(server: string, database: string): Promise<void> {
  await asAdmin(server, (admin) =>
    admin.query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1', [
      database,
    ]),
  );
}

async function dropAll(admin: Client, prefix: string): Promise<void> {
  const left = await admin.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1)',
    [prefix],
  );
  for (const { datname } of left.rows) await dropDatabase(admin, datname);
}

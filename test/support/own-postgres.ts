// A PostgreSQL of a test's own: as safe as anyone's (fsync is on), and killed and started again by faults.
import { chmod, mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@wfg/shared/db/migrate';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@wfg/shared/runtime/embedded-postgres';
import { pino } from 'pino';
import { inject } from 'vitest';
import { asAdmin } from './admin.ts';
import { descendantsOf } from './descendants.ts';

export interface OwnPostgres extends AsyncDisposable {
  /** Of an ordinary user who owns the database. */
  url: string;
  version: () => Promise<string>;
  /** Removes all that is in the database, and makes wfg's tables anew. */
  renew: () => Promise<void>;
  /** Its fast shutdown, `awayMs` of absence, and a start on the same port. */
  restart: (awayMs: number) => Promise<void>;
  /** `kill -9` of all its processes, and a start that recovers. */
  kill: () => Promise<void>;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = await mkdtemp(join(inject('runFolder'), 'postgres-'));
  // As root, its user must get in.
  await chmod(folder, 0o755);
  const dataDir = join(folder, 'own');
  const log = pino({ level: 'warn' });
  const start = () => startEmbeddedPostgres({ dataDir, log, programs: process.env.PG_BIN });
  let server: EmbeddedPostgres = await start();

  async function main(): Promise<number> {
    return Number.parseInt(await readFile(join(dataDir, 'data', 'postmaster.pid'), 'utf8'), 10);
  }

  async function startAgain(): Promise<void> {
    await server.ended;
    await server.stop();
    const before = server.url;
    server = await start();
    if (server.url !== before) throw new Error('another program has taken the port of PostgreSQL');
  }

  return {
    url: server.url,
    version: () =>
      asAdmin(server.url, async (client) => {
        const { rows } = await client.query<{ server_version: string }>('show server_version');
        return rows[0]?.server_version ?? '';
      }),
    async renew() {
      await asAdmin(server.url, (client) => client.query('drop schema public cascade; create schema public'));
      await migrate(server.url, log);
    },
    async restart(awayMs) {
      process.kill(await main(), 'SIGINT');
      await server.ended;
      await sleep(awayMs);
      await startAgain();
    },
    async kill() {
      const pid = await main();
      for (const victim of [pid, ...descendantsOf(pid)]) killNow(victim);
      await startAgain();
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

// PgBouncer before the test server, in transaction mode: each transaction may come to another connection, so nothing that
// a session keeps can be relied on.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@wfg/shared/runtime/free-port';
import { serverUser } from '@wfg/shared/runtime/postgres-user';
import { waitFor } from './wait-for.ts';

/** Where Debian has it, and no PATH but root's. */
const PATH = `${process.env.PATH}:/usr/sbin`;
/** Of one database at once; a server has connections for a hundred. */
const POOL_SIZE = 10;

export interface Pooler {
  /** The server's URL by way of it. */
  url: string;
  stop: () => Promise<void>;
}

/** Starts it with its files in a folder of its own. @throws {Error} when it is not installed. */
export async function startPooler(server: string): Promise<Pooler> {
  const target = new URL(server);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'wfg-pooler-'));
  const file = join(folder, 'pgbouncer.ini');
  const own = {
    host: target.hostname,
    port: target.port || '5432',
    user: decodeURIComponent(target.username),
    ...(target.password !== '' && { password: decodeURIComponent(target.password) }),
  };
  const given = Object.entries(own).map(([name, value]) => `${name}='${value.replaceAll("'", "''")}'`);
  await writeFile(
    file,
    `[databases]
* = ${given.join(' ')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${POOL_SIZE}
max_client_conn = 1000
server_idle_timeout = 5
log_connections = 0
log_disconnections = 0
`,
  );
  // Like the server, it does not run as root.
  const user = serverUser(join(folder, 'none'));
  if (user) for (const path of [folder, file]) await chown(path, user.uid, user.gid);
  const child = spawn('pgbouncer', ['-q', file], {
    ...user,
    env: { PATH },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const failed = once(child, 'error').then(([err]) => {
    throw new Error('PgBouncer cannot be started: install it, so that pgbouncer is in PATH', { cause: err });
  });
  await Promise.race([failed, waitFor('PgBouncer to answer', () => isOpen(port))]);
  failed.catch(() => undefined);
  target.hostname = '127.0.0.1';
  target.port = String(port);
  return {
    url: target.href,
    async stop() {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended by itself with ${child.exitCode}`);
      child.kill('SIGINT');
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isThere = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isThere;
}

// Ends a statement on the server whose answer nobody waits for any more. A backend that waits for a lock does not notice
// that its client has gone: while the lock is held each repetition would leave one more of them, until none can connect.
import { connect } from 'node:net';
import type { ClientBase } from 'pg';

/** PostgreSQL's CancelRequest: its length, its code, and whose statement is meant. */
const LENGTH = 16;
const CODE = 80_877_102;
const TIMEOUT_MS = 5_000;

interface Address {
  host: string;
  port: number;
}

/** Asks for it on a connection of its own, and never fails: a server that is away has no statement to end. */
export function cancelStatement(client: ClientBase & Address): void {
  // Known to pg, and not to its types.
  const pid: unknown = Reflect.get(client, 'processID');
  const secret: unknown = Reflect.get(client, 'secretKey');
  if (typeof pid !== 'number' || typeof secret !== 'number') return;
  const { host, port } = client;
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  socket.on('error', () => socket.destroy());
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  const request = Buffer.alloc(LENGTH);
  request.writeInt32BE(LENGTH, 0);
  request.writeInt32BE(CODE, 4);
  request.writeInt32BE(pid, 8);
  request.writeInt32BE(secret, 12);
  socket.end(request);
  socket.unref();
}

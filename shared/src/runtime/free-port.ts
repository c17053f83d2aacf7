// A TCP port of 127.0.0.1 that nobody listens on at this moment.

import { once } from 'node:events';
import { createServer } from 'node:net';

/** Asks the system; another program may take the port before the caller does. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port on 127.0.0.1');
  return address.port;
}

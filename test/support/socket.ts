// A WebSocket to an api, up to where it is open, refused or closed.
import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';

export function dial(url: string, options: ClientOptions = {}): WebSocket {
  return new WebSocket(`${url.replace('http', 'ws')}/ws`, 'wfg.v1', options);
}

/** The status that the handshake is answered with: 101 when it is open. */
export async function handshake(socket: WebSocket): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(101));
    socket.once('unexpected-response', (_, { statusCode }) => {
      resolve(statusCode);
      socket.terminate();
    });
    socket.once('error', reject);
  });
}

/** The code that it is closed with. */
export async function closeCode(socket: WebSocket): Promise<unknown> {
  const [code] = await once(socket, 'close');
  return code;
}

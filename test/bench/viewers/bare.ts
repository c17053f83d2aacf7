// The floor: what `ws` alone takes to send the same bytes to as many sockets, with no more than 1 MiB waiting in any.
import { setImmediate } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { ToBare } from './protocol.ts';

const MOST_WAITING = 1024 * 1024;

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.on('listening', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.send?.({ port: address.port });
});

process.on('message', (message) => void sendAll(ToBare.parse(message)));
process.on('disconnect', () => process.exit());

async function sendAll({ messages, text }: ToBare): Promise<void> {
  for (let n = 0; n < messages; n++) {
    const frame = Buffer.from(text);
    for (const socket of server.clients) {
      while (socket.bufferedAmount > MOST_WAITING) await setImmediate();
      socket.send(frame, { binary: false });
    }
    await setImmediate();
  }
}

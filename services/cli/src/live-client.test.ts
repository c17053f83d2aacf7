import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { connectLive, LIMITS } from './live-client.ts';

/** Nothing of this process goes on, as if its machine slept. */
function sleepFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('who slept for longer than a server may be away looks for it before giving up', async () => {
  let isAway = false;
  let refused = 0;
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    verifyClient(_, answer) {
      if (isAway) refused++;
      answer(!isAway, 503);
    },
  });
  await once(server, 'listening');
  const address = server.address();
  const base = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`);
  const said: string[] = [];
  const limits = { ...LIMITS, away: 1_000, step: 100 };
  const live = connectLive({ base, token: undefined }, (text) => said.push(text), limits);
  try {
    live.subscribe({ topic: () => ({ topic: 'workers' }), receive: () => undefined });
    const [socket] = await once(server, 'connection');
    await once(socket, 'message');

    // Once when it is connected, and once while it tries to be.
    isAway = true;
    socket.terminate();
    sleepFor(1_500);
    await vi.waitFor(() => expect(refused).toBe(1));
    sleepFor(1_500);
    await vi.waitFor(() => expect(refused).toBe(3), 5_000);
    isAway = false;
    await vi.waitFor(() => expect(said.at(-1)).toBe('connected again'), 5_000);
    expect(said).toHaveLength(2);
  } finally {
    live.close();
    server.close();
  }
});

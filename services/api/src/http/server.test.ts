import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startHttp } from './server.ts';

test('who takes nothing of an answer is cut off, and its source let go', async () => {
  const released = Promise.withResolvers<void>();
  let sent = 0;
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(Buffer.alloc(65_536));
        sent++;
      },
      cancel: () => released.resolve(),
    });
  await using server = await startHttp('127.0.0.1', 0, async () => new Response(body()), 200);
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await released.promise;
  expect(sent).toBeGreaterThan(0);
  socket.destroy();
});

test('who takes an answer slowly gets all of it', async () => {
  const pieces = 20;
  const body = () => {
    let left = pieces;
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (left-- > 0) controller.enqueue(Buffer.from('x'));
        else controller.close();
      },
    });
  };
  await using server = await startHttp('127.0.0.1', 0, async () => new Response(body()), 500);
  expect(await (await fetch(server.url)).text()).toHaveLength(pieces);
});

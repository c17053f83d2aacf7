// A server that answers as a test says.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Its URL, while the test runs. */
export async function answering(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then((body) => answer(request, response, body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}/`;
}

// The HTTP server: from listening to an end that lets answers in flight finish.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server';
import { messageOf } from '@wfg/shared/rules/message-of';

/** Answers still going on after this long are cut off. */
const CLOSE_MS = 3_000;
/** A connection on which nothing moves for so long is cut: its client takes nothing, or has gone without a word. */
const STALLED_MS = 120_000;

export interface HttpServer extends AsyncDisposable {
  server: Server;
  url: string;
}

type Fetch = (request: Request, env: HttpBindings | Http2Bindings) => Promise<Response>;

/**
 * Resolves when it listens; rejects if it cannot, saying what to do. Port 0: any free one. `stalledMs` is longer than any
 * answer is prepared for.
 */
export async function startHttp(
  host: string,
  port: number,
  fetch: Fetch,
  stalledMs = STALLED_MS,
): Promise<HttpServer> {
  const answer = getRequestListener(fetch, { overrideGlobalObjects: false });
  const server = createServer((request, response) => void answer(request, response));
  server.setTimeout(stalledMs);
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (err) {
    throw new Error(`PORT ${port} on HOST ${host} cannot be used, set another: ${messageOf(err)}`, {
      cause: err,
    });
  }
  return {
    server,
    url: urlOf(host, server),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}

function urlOf(host: string, server: Server): string {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

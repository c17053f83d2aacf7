// The small HTTP server that each process has for whoever watches it: /health while it lives, /ready.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../rules/message-of.ts';

interface HealthSettings {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Why the process cannot do its work at the moment; empty if it can. */
  reasons: () => string[];
}

interface Health extends AsyncDisposable {
  port: number;
}

/** Resolves when it listens; rejects if it cannot, saying what to do. */
export async function startHealth({ host, port, reasons }: HealthSettings): Promise<Health> {
  const server = createServer((request, response) => {
    const { status, body } = answer(request.url ?? '', reasons);
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
  });
  server.requestTimeout = 5_000;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (err) {
    const why = messageOf(err);
    throw new Error(`HEALTH_PORT ${port} on HOST ${host} cannot be used, set another: ${why}`, {
      cause: err,
    });
  }
  return {
    port: portOf(server.address()),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer(url: string, reasons: () => string[]): { status: number; body: object } {
  const path = url.split('?', 1)[0];
  if (path === '/health') return { status: 200, body: { status: 'ok' } };
  if (path !== '/ready') return { status: 404, body: { detail: 'there are /health and /ready' } };
  const why = reasons();
  return { status: why.length === 0 ? 200 : 503, body: { ready: why.length === 0, reasons: why } };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}

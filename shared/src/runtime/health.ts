// The small HTTP server that each process has for whoever watches it: /health while it lives, /ready, and /metrics of
// the process alone, in the words of Prometheus.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, register } from 'prom-client';
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
  collectDefaultMetrics();
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, type, body } = await answer(request.url ?? '', reasons);
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : body);
  }
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
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

interface Answer {
  status: number;
  type: string;
  body: string;
}

async function answer(url: string, reasons: () => string[]): Promise<Answer> {
  const path = url.split('?', 1)[0];
  if (path === '/health') return json(200, { status: 'ok' });
  if (path === '/metrics') return { status: 200, type: register.contentType, body: await register.metrics() };
  if (path !== '/ready') return json(404, { detail: 'there are /health, /ready and /metrics' });
  const why = reasons();
  return json(why.length === 0 ? 200 : 503, { ready: why.length === 0, reasons: why });
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}

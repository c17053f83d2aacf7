// The live side of the api: accepts WebSockets on /ws and passes the bells it hears to their subscriptions.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Bell } from '@wfg/shared/contract/bell';
import { PROTOCOL } from '@wfg/shared/contract/live';
import { WebSocketServer } from 'ws';
import { type Connection, type ConnectionSettings, serveConnection } from './connection.ts';

const MAX_FRAME_BYTES = 64 * 1024;
const MAX_SOCKETS = 2_000;
/** A client that does not answer the closing handshake is cut off after this long. */
const CLOSE_MS = 2_000;

export interface Live extends AsyncDisposable {
  hear: (bell: Bell) => void;
}

export interface LiveSettings extends ConnectionSettings {
  /** Whether a page of this origin may connect; requests without an Origin do not come from a page. */
  allowsOrigin: (origin: string, request: IncomingMessage) => boolean;
}

/** Serves /ws on an HTTP server. Disposal closes every socket with 1001. */
export function attachLive(server: Server, settings: LiveSettings): Live {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => offered.has(PROTOCOL) && PROTOCOL,
  });
  const connections = new Set<Connection>();

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const refusal = refusalOf(request);
    if (refusal) {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      const connection = serveConnection(client, settings);
      connections.add(connection);
      void connection.closed.then(() => connections.delete(connection));
    });
  }

  function refusalOf(request: IncomingMessage): string | null {
    const { origin } = request.headers;
    if (request.url?.split('?')[0] !== '/ws') return '404 Not Found';
    if (origin !== undefined && !settings.allowsOrigin(origin, request)) return '403 Forbidden';
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim());
    if (!offered?.includes(PROTOCOL)) return '400 Bad Request';
    if (connections.size >= MAX_SOCKETS) return '503 Service Unavailable';
    return null;
  }

  server.on('upgrade', upgrade);
  return {
    hear(bell) {
      for (const connection of connections) connection.hear(bell);
    },
    async [Symbol.asyncDispose]() {
      server.off('upgrade', upgrade);
      const cut = setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, CLOSE_MS);
      await Promise.all([...connections].map((connection) => connection.close()));
      clearTimeout(cut);
      sockets.close();
    },
  };
}

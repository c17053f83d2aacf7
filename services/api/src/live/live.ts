// The WebSockets of the api: accepts them on /ws and adds them to the viewers.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { PROTOCOL } from '@wfg/shared/contract/live';
import { WebSocketServer } from 'ws';
import { type ConnectionSettings, serveConnection } from './connection.ts';
import type { Hub } from './hub.ts';

const MAX_FRAME_BYTES = 64 * 1024;
/** A client that does not answer the closing handshake is cut off after this long. */
const CLOSE_MS = 2_000;

export interface LiveSettings extends ConnectionSettings {
  hub: Hub;
  /** Whether it comes from this machine, and if from a page, from one that may. */
  mayConnect: (request: IncomingMessage) => boolean;
}

/** Serves /ws on an HTTP server. Disposal closes the hub: every socket with 1001, and the streams. */
export function attachLive(server: Server, settings: LiveSettings): AsyncDisposable {
  const { hub } = settings;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => offered.has(PROTOCOL) && PROTOCOL,
  });

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const refusal = refusalOf(request);
    if (refusal) {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      hub.add(serveConnection(client, settings));
    });
  }

  function refusalOf(request: IncomingMessage): string | null {
    if (request.url?.split('?')[0] !== '/ws') return '404 Not Found';
    if (!settings.mayConnect(request)) return '403 Forbidden';
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim());
    if (!offered?.includes(PROTOCOL)) return '400 Bad Request';
    if (hub.isFull()) return '503 Service Unavailable';
    return null;
  }

  server.on('upgrade', upgrade);
  return {
    async [Symbol.asyncDispose]() {
      server.off('upgrade', upgrade);
      const cut = setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, CLOSE_MS);
      await hub.close();
      clearTimeout(cut);
      sockets.close();
    },
  };
}

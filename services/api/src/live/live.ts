// The WebSockets of the api: accepts them on /ws and adds them to the viewers.
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { PROTOCOL } from '@wfg/shared/contract/live';
import { WfgError } from '@wfg/shared/contract/problem';
import { WebSocketServer } from 'ws';
import { credentialOf } from '../access/credential.ts';
import type { Gate } from '../access/gate.ts';
import { upgradingVisitor } from '../access/visitor.ts';
import type { Deadline } from '../http/deadline.ts';
import { errorResponse, refused } from '../http/problems.ts';
import { type ConnectionSettings, serveConnection } from './connection.ts';
import type { Hub } from './hub.ts';

/** A client that does not answer the closing handshake is cut off after this long. */
const CLOSE_MS = 2_000;

export interface LiveSettings extends ConnectionSettings {
  hub: Hub;
  gate: Gate;
  deadline: Deadline;
  /** Of what a client sends. */
  maxFrameBytes: number;
}

/** Serves /ws on an HTTP server. Disposal closes the hub: every socket with 1001, and the streams. */
export function attachLive(server: Server, settings: LiveSettings): AsyncDisposable {
  const { hub, gate, deadline, log } = settings;
  let isStopping = false;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: settings.maxFrameBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => offered.has(PROTOCOL) && PROTOCOL,
  });

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const answer = await deadline.watch(() => answerTo(request)).catch(refused);
    if (!answer.ok) return decline(socket, answer);
    sockets.handleUpgrade(request, socket, head, (client) => {
      hub.add(serveConnection(client, settings), credentialOf(upgradingVisitor(request)));
    });
  }

  /** Any that is ok: it may. */
  async function answerTo(request: IncomingMessage): Promise<Response> {
    const path = request.url?.split('?')[0] ?? '';
    try {
      if (path !== '/ws') throw new WfgError('not_found', `there is no ${path}`);
      const visitor = upgradingVisitor(request);
      gate.checkOrigin(visitor);
      await gate.admit(visitor);
      if (isStopping) throw new WfgError('unavailable', 'the server is stopping: try again');
      hub.admit(credentialOf(visitor));
      const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim());
      if (!offered?.includes(PROTOCOL))
        throw new WfgError('bad_protocol', `ask for the subprotocol ${PROTOCOL}`);
      return new Response();
    } catch (err) {
      deadline.doubt(err);
      return errorResponse(err, log, { method: 'UPGRADE', path });
    }
  }

  server.on('upgrade', (...given) => void upgrade(...given));
  return {
    async [Symbol.asyncDispose]() {
      // Those that are sent away come back at once: without a listener they would be told that there is no /ws.
      isStopping = true;
      const cut = setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, CLOSE_MS);
      await hub.close();
      clearTimeout(cut);
      sockets.close();
    },
  };
}

/** Ends the connection with an answer, as HTTP has it. */
async function decline(socket: Duplex, answer: Response): Promise<void> {
  const body = await answer.text();
  const { status, headers } = answer;
  const lines = [...headers, ['connection', 'close'], ['content-length', String(Buffer.byteLength(body))]];
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines.map((pair) => pair.join(': '))];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

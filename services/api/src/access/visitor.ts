// Reads of a request what the gate looks at.
import type { IncomingMessage } from 'node:http';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { credentialOf } from './credential.ts';
import type { Visitor } from './gate.ts';

export function visitorOf(c: Context): Visitor {
  return {
    method: c.req.method,
    host: c.req.header('host') ?? '',
    origin: c.req.header('origin'),
    authorization: c.req.header('authorization'),
    cookie: c.req.header('cookie'),
    address: getConnInfo(c).remote.address ?? '',
  };
}

/** Who asks, for whoever looks it up later: by what right, and from where. */
export function actorOf(c: Context): string {
  const visitor = visitorOf(c);
  return `${credentialOf(visitor)?.kind ?? 'no token'}, from ${visitor.address}`;
}

/** Of what is to become a WebSocket. */
export function upgradingVisitor({ headers, socket }: IncomingMessage): Visitor {
  const { host = '', origin, authorization, cookie } = headers;
  return { method: 'UPGRADE', host, origin, authorization, cookie, address: socket.remoteAddress ?? '' };
}

// Receives request bodies before their requests take a turn: however slowly one comes, it keeps nobody waiting.
import { WfgError } from '@wfg/shared/contract/problem';
import type { MiddlewareHandler } from 'hono';
import { PUBLIC } from '../access/ask-for-token.ts';
import { hasRoute } from './api-path.ts';

export const MIB = 1024 * 1024;
/** Of the largest body that any route takes. */
const MOST = 16 * MIB;
/** Of all bodies that are held at one time. */
const MOST_HELD = 256 * MIB;
/** Of a body that is refused for its size. */
const MAX_READ = 64 * MIB;

interface Received {
  bytes: number;
  /** Whole, unless there are more bytes than may be held. */
  parts: Uint8Array[];
}

const received = new WeakMap<Request, Received>();

/** Holds the body of what a route answers until it has. @throws {WfgError} too_large, unavailable. */
export function receiveBodies(): MiddlewareHandler {
  let held = 0;
  return async (c, next) => {
    const { raw } = c.req;
    if (!hasRoute(c) || !raw.body) return next();
    const most = PUBLIC.has(c.req.path) ? MIB : MOST;
    if (Number(c.req.header('content-length') ?? 0) > most) throw tooLarge(most);
    const body: Received = { bytes: 0, parts: [] };
    let own = 0;
    try {
      for await (const part of raw.body) {
        body.bytes += part.byteLength;
        // Before the end of what it sends a client hears nothing, nor can its connection be used again.
        if (body.bytes > MAX_READ) throw tooLarge(most);
        if (body.bytes > most) continue;
        if (held + part.byteLength > MOST_HELD)
          throw new WfgError('unavailable', 'too much is being sent at once: try again');
        own += part.byteLength;
        held += part.byteLength;
        body.parts.push(part);
      }
      received.set(raw, body);
      await next();
    } finally {
      held -= own;
    }
  };
}

/** What has been received. @throws {WfgError} too_large. */
export function receivedText(request: Request, maxBytes: number): string {
  const { bytes, parts } = received.get(request) ?? { bytes: 0, parts: [] };
  if (bytes > maxBytes) throw tooLarge(maxBytes);
  return Buffer.concat(parts).toString('utf8');
}

function tooLarge(maxBytes: number): WfgError {
  return new WfgError('too_large', `at most ${maxBytes / MIB} MiB are read here`);
}

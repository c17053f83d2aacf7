// The middleware before the routes: whoever comes with no right to use them gets 401.
import type { MiddlewareHandler } from 'hono';
import type { Paced } from '../context.ts';
import { hasRoute } from '../http/api-path.ts';
import type { Gate } from './gate.ts';
import { visitorOf } from './visitor.ts';

/** What is the same for everyone, or is how a token is shown in the first place. */
export const PUBLIC: ReadonlySet<string> = new Set([
  '/health',
  '/ready',
  '/openapi.json',
  '/docs',
  '/api/session',
]);

/**
 * Lets pass what is public, and what no route answers: the files of the page, and what there is not. Admission has a turn
 * of its own: nothing that a stranger sends is read before it.
 */
export function askForToken(gate: Gate, paced: Paced): MiddlewareHandler {
  return async (c, next) => {
    const isRoute = hasRoute(c);
    if (isRoute && !PUBLIC.has(c.req.path)) await paced(() => gate.admit(visitorOf(c)));
    await next();
    // Nobody's answer is kept for somebody else, nor for after a logout.
    if (isRoute && !c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
  };
}

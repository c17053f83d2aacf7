// The middleware before the routes: whoever comes with no right to use them gets 401.
import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
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

/** Lets pass what is public, and what no route answers: the files of the page, and what there is not. */
export function askForToken(gate: Gate): MiddlewareHandler {
  return async (c, next) => {
    const isRoute = matchedRoutes(c).some(({ path }) => !path.includes('*'));
    if (isRoute && !PUBLIC.has(c.req.path)) await gate.admit(visitorOf(c));
    await next();
    // Nobody's answer is kept for somebody else, nor for after a logout.
    if (isRoute && !c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
  };
}

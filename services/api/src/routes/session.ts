// Logging in and out of the page. The cookie holds a random value that is good for nothing but this api, with any of its
// copies, until the session ends.
import { randomBytes } from 'node:crypto';
import { OpenAPIHono } from '@hono/zod-openapi';
import { WfgError } from '@wfg/shared/contract/problem';
import { getSession, login, logout } from '@wfg/shared/contract/routes/session';
import { beginSession, endSession, pruneSessions, SESSION_SECS } from '@wfg/shared/queries/sessions';
import { deleteCookie, setCookie } from 'hono/cookie';
import { cookieName, credentialOf, sha256 } from '../access/credential.ts';
import { visitorOf } from '../access/visitor.ts';
import type { ApiContext } from '../context.ts';
import { bind } from '../http/bind.ts';
import { jsonBody } from '../http/body.ts';

export function sessionRoutes({ pool, doorbell, access, gate }: ApiContext): OpenAPIHono {
  const app = new OpenAPIHono();

  app.openapi(bind(app, getSession), async (c) =>
    c.json({ required: access.isGuarded(), role: await gate.roleOf(visitorOf(c)) }, 200),
  );

  app.openapi(bind(app, login), async (c) => {
    if (!access.isGuarded()) throw new WfgError('conflict', 'this api asks nobody for a token');
    const { token } = await jsonBody(c, login);
    const visitor = visitorOf(c);
    const role = await gate.roleOf({ ...visitor, authorization: `Bearer ${token}` });
    const session = randomBytes(32).toString('base64url');
    if (role === null || !(await beginSession(pool, sha256(session), sha256(token)))) {
      throw new WfgError('unauthorized', 'that is not the token');
    }
    await pruneSessions(pool);
    setCookie(c, cookieName(visitor.host), session, {
      path: '/',
      httpOnly: true,
      sameSite: 'Strict',
      // The page's own origin says how the browser came here; behind a proxy the connection does not.
      secure: visitor.origin?.startsWith('https:') ?? false,
      maxAge: SESSION_SECS,
    });
    return c.json({ required: true, role }, 200);
  });

  app.openapi(bind(app, logout), async (c) => {
    const visitor = visitorOf(c);
    const credential = credentialOf({ ...visitor, authorization: undefined });
    if (credential !== null && (await endSession(pool, credential.hash))) {
      doorbell.ring({ tokens: true });
      access.look();
    }
    deleteCookie(c, cookieName(visitor.host), { path: '/' });
    return c.body(null, 204);
  });

  return app;
}

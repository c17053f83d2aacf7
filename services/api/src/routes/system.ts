// How this process is, and where it is followed.
import { OpenAPIHono } from '@hono/zod-openapi';
import { PROTOCOL } from '@wfg/shared/contract/live';
import { followLive, getHealth, getReadiness } from '@wfg/shared/contract/routes/system';
import { WfgError } from '@wfg/shared/contract/problem';
import type { ApiContext } from '../context.ts';
import { bind } from '../http/bind.ts';

export function systemRoutes({ reasons }: ApiContext): OpenAPIHono {
  const app = new OpenAPIHono();
  app.openapi(bind(app, getHealth), (c) => c.json({ status: 'ok' as const }, 200));
  app.openapi(bind(app, getReadiness), (c) => {
    const why = reasons();
    return c.json({ ready: why.length === 0, reasons: why }, why.length === 0 ? 200 : 503);
  });
  // An upgrade never comes here: see ../live/live.ts.
  app.openapi(bind(app, followLive), () => {
    throw new WfgError('bad_protocol', `/ws is a WebSocket: connect with the subprotocol ${PROTOCOL}`);
  });
  return app;
}

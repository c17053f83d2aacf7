// How this process is.
import { OpenAPIHono } from '@hono/zod-openapi';
import { getHealth, getReadiness } from '@wfg/shared/contract/routes/system';
import type { ApiContext } from '../context.ts';
import { bind } from '../http/bind.ts';

export function systemRoutes({ reasons }: ApiContext): OpenAPIHono {
  const app = new OpenAPIHono();
  app.openapi(bind(app, getHealth), (c) => c.json({ status: 'ok' as const }, 200));
  app.openapi(bind(app, getReadiness), (c) => {
    const why = reasons();
    return c.json({ ready: why.length === 0, reasons: why }, why.length === 0 ? 200 : 503);
  });
  return app;
}

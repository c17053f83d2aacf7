// The workers, and how this process is.
import { OpenAPIHono } from '@hono/zod-openapi';
import { getHealth, getReadiness } from '@wfg/shared/contract/routes/system';
import { listWorkers } from '@wfg/shared/contract/routes/workers';
import { listWorkers as readWorkers } from '@wfg/shared/queries/worker-list';
import type { ApiContext } from '../context.ts';
import { bind } from '../http/bind.ts';

export function systemRoutes({ pool, reasons }: ApiContext): OpenAPIHono {
  const app = new OpenAPIHono();
  app.openapi(bind(app, listWorkers), async (c) => c.json(await readWorkers(pool), 200));
  app.openapi(bind(app, getHealth), (c) => c.json({ status: 'ok' as const }, 200));
  app.openapi(bind(app, getReadiness), (c) => {
    const why = reasons();
    return c.json({ ready: why.length === 0, reasons: why }, why.length === 0 ? 200 : 503);
  });
  return app;
}

// The workers that are known, and how one that works over HTTP makes itself known.
import { OpenAPIHono } from '@hono/zod-openapi';
import { WfgError } from '@wfg/shared/contract/problem';
import * as routes from '@wfg/shared/contract/routes/workers';
import { beatForeign, registerForeign, removeWorker } from '@wfg/shared/queries/foreign-workers';
import { listWorkers } from '@wfg/shared/queries/worker-list';
import type { ApiContext } from '../context.ts';
import { bind } from '../http/bind.ts';
import { jsonBody } from '../http/body.ts';

export function workerRoutes({ pool }: ApiContext): OpenAPIHono {
  const app = new OpenAPIHono();

  app.openapi(bind(app, routes.listWorkers), async (c) => c.json(await listWorkers(pool), 200));

  app.openapi(bind(app, routes.registerWorker), async (c) => {
    const worker = await jsonBody(c, routes.registerWorker);
    if (!(await registerForeign(pool, worker))) {
      throw new WfgError(
        'conflict',
        `a worker of wfg's own is called ${worker.worker_id}: choose another worker_id`,
      );
    }
    return c.body(null, 200);
  });

  app.openapi(bind(app, routes.beatWorker), async (c) => {
    const { id } = c.req.valid('param');
    if (!(await beatForeign(pool, id))) {
      throw new WfgError('not_found', `there is no worker ${id} that works over HTTP: register it`);
    }
    return c.body(null, 200);
  });

  app.openapi(bind(app, routes.removeWorker), async (c) => {
    await removeWorker(pool, c.req.valid('param').id);
    return c.body(null, 204);
  });

  return app;
}

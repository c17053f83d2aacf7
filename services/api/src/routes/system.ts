// The workers, and how this process is.
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import { Worker } from '@wfg/shared/contract/worker';
import { listWorkers } from '@wfg/shared/queries/worker-list';
import type { ApiContext } from '../context.ts';
import { json } from '../http/schemas.ts';

const workers = createRoute({
  method: 'get',
  path: '/api/workers',
  summary: 'The workers that are known, newest first, at most 1,000',
  responses: { 200: json(z.array(Worker), 'the workers') },
});

const health = createRoute({
  method: 'get',
  path: '/health',
  summary: 'Whether the process lives',
  responses: { 200: json(z.object({ status: z.literal('ok') }), 'it does') },
});

const Readiness = z.object({ ready: z.boolean(), reasons: z.array(z.string()) });

const ready = createRoute({
  method: 'get',
  path: '/ready',
  summary: 'Whether the process can do its work',
  responses: { 200: json(Readiness, 'it can'), 503: json(Readiness, 'it cannot, and why') },
});

export function systemRoutes({ pool, reasons }: ApiContext): OpenAPIHono {
  const app = new OpenAPIHono();
  app.openapi(workers, async (c) => c.json(await listWorkers(pool), 200));
  app.openapi(health, (c) => c.json({ status: 'ok' as const }, 200));
  app.openapi(ready, (c) => {
    const why = reasons();
    return c.json({ ready: why.length === 0, reasons: why }, why.length === 0 ? 200 : 503);
  });
  return app;
}

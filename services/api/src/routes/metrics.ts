// Metrics: FlowForge's numbers of events, or those of the whole system for Prometheus.
import { OpenAPIHono } from '@hono/zod-openapi';
import { getMetrics } from '@wfg/shared/contract/routes/metrics';
import { type MetricsFormat, systemMetrics } from '@wfg/shared/runtime/system-metrics';
import { accepts } from 'hono/accepts';
import type { ApiContext } from '../context.ts';
import { eventMetrics } from '../event-metrics.ts';
import { bind } from '../http/bind.ts';

const TEXTS: readonly string[] = ['text/plain', 'application/openmetrics-text'] satisfies MetricsFormat[];

export function metricsRoutes({ pool }: ApiContext): OpenAPIHono {
  const app = new OpenAPIHono();

  app.openapi(bind(app, getMetrics), async (c) => {
    const supports = ['application/json', ...TEXTS];
    const wanted = accepts(c, { header: 'Accept', supports, default: 'application/json' });
    c.header('vary', 'accept');
    if (isText(wanted)) {
      const { text, contentType } = await systemMetrics(pool, wanted);
      return c.text(text, 200, { 'content-type': contentType });
    }
    return c.json(await eventMetrics(pool), 200);
  });

  return app;
}

function isText(type: string): type is MetricsFormat {
  return TEXTS.includes(type);
}

// Metrics: FlowForge's numbers of events, or those of the whole system for Prometheus.
import { OpenAPIHono } from '@hono/zod-openapi';
import { getMetrics } from '@wfg/shared/contract/routes/metrics';
import { countEvents } from '@wfg/shared/queries/counts';
import { type MetricsFormat, systemMetrics } from '@wfg/shared/runtime/system-metrics';
import { accepts } from 'hono/accepts';
import type { ApiContext } from '../context.ts';
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
    const { statuses, busy_ms, total, as_of } = await countEvents(pool);
    const average = statuses.completed === 0 ? 0 : busy_ms / statuses.completed;
    return c.json(
      {
        total_workflows: total,
        ...statuses,
        average_processing_time_ms: Math.round(average * 100) / 100,
        as_of: as_of.toISOString(),
      },
      200,
    );
  });

  return app;
}

function isText(type: string): type is MetricsFormat {
  return TEXTS.includes(type);
}

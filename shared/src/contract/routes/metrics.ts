// Metrics: FlowForge's numbers of events, or those of the whole system for Prometheus.
import { z } from 'zod';
import { Time } from '../job.ts';
import { answer, type Route } from './route.ts';

export const EventMetrics = z
  .object({
    total_workflows: z.int(),
    pending: z.int(),
    processing: z.int(),
    completed: z.int(),
    failed: z.int(),
    dead_lettered: z.int(),
    cancelled: z.int(),
    average_processing_time_ms: z.number().meta({ description: 'of the last tries of completed events' }),
    as_of: Time,
  })
  .meta({ id: 'EventMetrics' });

const metrics = answer(
  EventMetrics,
  'standalone events by status; the whole system as text, if that is asked for',
);

export const getMetrics = {
  method: 'get',
  path: '/metrics',
  summary: 'How many events there are; with Accept: text/plain the whole system, for Prometheus',
  request: {},
  responses: {
    200: {
      ...metrics,
      content: {
        ...metrics.content,
        'text/plain': { schema: z.string() },
        'application/openmetrics-text': { schema: z.string() },
      },
    },
  },
} satisfies Route;

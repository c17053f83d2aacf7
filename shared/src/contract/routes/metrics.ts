// Metrics: FlowForge's numbers of events, or those of the whole system for Prometheus.
import { z } from 'zod';
import { EventMetrics } from '../stats.ts';
import { answer, type Route } from './route.ts';

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

// How much there is to do, in numbers.
import { z } from 'zod';
import { Time } from './job.ts';

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
export type EventMetrics = z.infer<typeof EventMetrics>;

export const Stats = EventMetrics.extend({
  /** Live jobs, those of graphs and standalone ones, by state; without states that no job is in. */
  jobs: z.record(z.string(), z.int()),
  /** Of graphs. */
  open_runs: z.int(),
  /** By status; without those that no worker is in. */
  workers: z.record(z.string(), z.int()),
}).meta({ id: 'Stats' });
export type Stats = z.infer<typeof Stats>;

// A worker as every reader sees it.
import { z } from 'zod';
import { Time } from './job.ts';

export const Worker = z
  .object({
    worker_id: z.string(),
    labels: z.array(z.string()),
    handlers: z.array(z.string()),
    status: z.enum(['idle', 'busy', 'draining', 'offline']),
    current_job: z.string().nullable(),
    jobs: z.array(z.object({ run_id: z.uuid(), job_id: z.string(), attempt: z.int(), since: Time })),
    version: z.string(),
    host: z.string(),
    concurrency: z.int(),
    registered_at_ms: z.int(),
    last_heartbeat_ms: z.int(),
  })
  .meta({ id: 'Worker' });
export type Worker = z.infer<typeof Worker>;

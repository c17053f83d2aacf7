// A worker as every reader sees it.
import { z } from 'zod';
import { Time } from './job.ts';

/** A name, as in the table. `.` and `..` mean something else in URLs. */
export const WorkerId = z
  .string()
  .regex(/^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,255}$/, 'must match [A-Za-z0-9_.:-]{1,255}');

export const Worker = z
  .object({
    worker_id: z.string(),
    labels: z.array(z.string()),
    handlers: z.array(z.string()),
    tasks: z.array(z.string()),
    status: z.enum(['idle', 'busy', 'draining', 'offline']),
    current_job: z.string().nullable(),
    jobs: z.array(z.object({ run_id: z.uuid(), job_id: z.string(), attempt: z.int(), since: Time })),
    version: z.string(),
    host: z.string(),
    concurrency: z.int(),
    problem: z
      .string()
      .nullable()
      .meta({ description: 'why it cannot run what it should; null when it can' }),
    registered_at_ms: z.int(),
    last_heartbeat_ms: z.int(),
  })
  .meta({ id: 'Worker' });
export type Worker = z.infer<typeof Worker>;

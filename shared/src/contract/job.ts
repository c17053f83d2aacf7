// A job as every reader sees it: states, attempts and why it waits.
import { z } from 'zod';

export const JobState = z.enum([
  'blocked',
  'pending',
  'active',
  'completed',
  'failed',
  'skipped',
  'cancelled',
]);
export type JobState = z.infer<typeof JobState>;

export const Outcome = z.enum(['completed', 'failed', 'timed_out', 'lost', 'handed_back', 'cancelled']);
export type Outcome = z.infer<typeof Outcome>;

/** RFC 3339, UTC, milliseconds. */
export const Time = z.iso.datetime();

export const Waiting = z
  .object({
    reason: z.enum(['dependencies', 'delayed', 'no_worker', 'capacity']),
    detail: z.string(),
    until: Time.nullable(),
    on: z.array(z.string()),
  })
  .meta({ id: 'Waiting' });
export type Waiting = z.infer<typeof Waiting>;

export const Job = z
  .object({
    job_id: z.string(),
    name: z.string(),
    state: JobState,
    cancelling: z.boolean(),
    uses: z.string().nullable(),
    depends_on: z.array(z.string()),
    required_labels: z.array(z.string()),
    priority: z.int(),
    attempt: z.int(),
    tries: z.int().meta({ description: 'attempts that count against max_attempts, and the one that runs' }),
    max_attempts: z.int(),
    run_at: Time,
    started_at: Time.nullable(),
    finished_at: Time.nullable(),
    worker_id: z.string().nullable(),
    error: z.string().nullable(),
    waiting: Waiting.nullable(),
    reused_from: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Job' });
export type Job = z.infer<typeof Job>;

/** UTF-8 of the names and values of a job's outputs together. */
export const MAX_OUTPUT_BYTES = 1_048_576;

export const Outputs = z.record(z.string(), z.string());
export type Outputs = z.infer<typeof Outputs>;

export const JobWithOutputs = Job.extend({ outputs: Outputs }).meta({ id: 'JobWithOutputs' });
export type JobWithOutputs = z.infer<typeof JobWithOutputs>;

export const Attempt = z
  .object({
    attempt: z.int(),
    try: z.int().meta({
      description:
        'from 1; one that does not count (handed back, lost by a handler or a step) shares it with the next',
    }),
    worker_id: z.string(),
    started_at: Time,
    finished_at: Time.nullable(),
    outcome: Outcome.nullable(),
    error: z.string().nullable(),
    exit_code: z.int().nullable(),
    step: z.string().nullable().meta({ description: 'of a task: the step it executed' }),
    log: z.object({ chunks: z.int(), lines: z.int(), bytes: z.int() }),
  })
  .meta({ id: 'Attempt' });
export type Attempt = z.infer<typeof Attempt>;

// A standalone event as it is handed in, and as FlowForge shows it.
import { z } from 'zod';
import { Backoff } from './backoff.ts';
import { Time, Waiting } from './job.ts';
import { KeyRule } from './key.ts';
import { whole } from './whole.ts';

/** What a handler is found by. */
export const WorkflowType = z
  .string({ error: 'must be text, like "user.created"' })
  .regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u, 'must be 1 to 255 characters, none of them a control character');

/** FlowForge's words: `failed` waits for its next try, `dead_lettered` for a person. */
export const EventStatus = z.enum([
  'pending',
  'processing',
  'completed',
  'failed',
  'dead_lettered',
  'cancelled',
]);
export type EventStatus = z.infer<typeof EventStatus>;

/** Tries in all of an event that does not say. */
export const DEFAULT_MAX_ATTEMPTS = 3;

const TIME_RULE = 'must be a time like 2026-07-01T12:00:00Z';
/** Not before when something is to begin. */
export const DueTime = z.iso
  .datetime({ offset: true, error: TIME_RULE })
  .transform((time) => new Date(time))
  .refine((time) => time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999, TIME_RULE)
  .meta({ type: 'string', format: 'date-time', description: 'not before this time; now' });
const Seconds = whole(1, 1_000_000_000, 'of seconds, ');

/** What is null is as if it were not given. */
export const EventInput = z
  .strictObject({
    workflow_type: WorkflowType,
    payload: z.unknown().optional().meta({ description: 'any JSON; {} when there is none' }),
    max_attempts: whole(1, 100)
      .nullish()
      .meta({ description: `tries in all; ${DEFAULT_MAX_ATTEMPTS}` }),
    run_at: DueTime.nullish(),
    expires_in_secs: Seconds.nullish().meta({
      description: 'it is dead-lettered when no worker begins it for so long after run_at',
    }),
    priority: whole(-100, 100).nullish().meta({ description: 'larger first; 0' }),
    backoff: Backoff.nullish().meta({
      description: 'the wait before a retry; what its handler declares, else exponential from 1 s to 60 s',
    }),
    timeout_secs: Seconds.nullish().meta({ description: 'of one try; what its handler declares' }),
    unique_key: KeyRule.nullish().meta({
      description:
        'while another event of the type with this key has not completed, or been cancelled or discarded, that one is answered',
    }),
    unique_for_secs: Seconds.nullish().meta({
      description: 'the unique_key holds for so long from the creation of its event, however that ends',
    }),
  })
  .refine(({ unique_key, unique_for_secs }) => unique_key != null || unique_for_secs == null, {
    path: ['unique_for_secs'],
    message: 'is for a unique_key, which is not there',
  })
  .meta({ id: 'EventInput' });
export type EventInput = z.output<typeof EventInput>;

export const Event = z
  .object({
    id: z.uuid(),
    workflow_type: z.string(),
    payload: z.unknown(),
    status: EventStatus,
    attempts: z.int(),
    max_attempts: z.int(),
    last_error: z.string().nullable(),
    created_at: Time,
    updated_at: Time,
    started_at: Time.nullable().meta({ description: 'of the last try' }),
    completed_at: Time.nullable(),
    run_at: Time,
    waiting: Waiting.nullable(),
  })
  .meta({ id: 'Event' });
export type Event = z.infer<typeof Event>;

export const EventProgress = Event.omit({
  workflow_type: true,
  payload: true,
  run_at: true,
  waiting: true,
}).meta({
  id: 'EventProgress',
});

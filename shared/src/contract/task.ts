// A task as it is handed in, and what has stopped and waits for a person.
import { z } from 'zod';
import { DueTime } from './event.ts';
import { Time } from './job.ts';

const STEP_RULE = 'must be {"<Task>": {"<Step>": <state>}}, with null as the state of a step without fields';
const one = (inner: z.ZodType) =>
  z
    .record(z.string(), inner, { error: STEP_RULE })
    .refine((value) => Object.keys(value).length === 1, STEP_RULE);

export const TaskInput = z
  .strictObject({
    step: one(one(z.unknown())).meta({ description: 'where it begins' }),
    wakeup_at: DueTime.nullish(),
  })
  .meta({ id: 'TaskInput' });

/** A standalone job that failed: an event out of tries, or a task that stopped at a step. */
export const DeadLetter = z
  .object({
    run_id: z.uuid(),
    kind: z.enum(['event', 'task']),
    workflow_type: z.string().meta({ description: "the event's type, or the task's name" }),
    step: z.string().nullable(),
    error: z.string().nullable(),
    tries: z.int(),
    max_attempts: z.int(),
    created_at: Time,
    failed_at: Time,
  })
  .meta({ id: 'DeadLetter' });
export type DeadLetter = z.infer<typeof DeadLetter>;

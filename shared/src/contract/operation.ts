// What is done for many jobs at once: which, and how far it is.
import { z } from 'zod';
import { EventStatus, WorkflowType } from './event.ts';
import { Time } from './job.ts';

/** Which dead letters are meant; what is not given does not matter. */
export const RequeueFilter = z
  .strictObject({
    status: EventStatus.refine(
      (status) => status === 'dead_lettered',
      'only what is dead_lettered is requeued',
    )
      .nullish()
      .meta({ description: 'dead_lettered: nothing else is requeued' }),
    workflow_type: WorkflowType.nullish(),
    before: z.iso
      .datetime({ offset: true, error: 'must be a time like 2026-07-01T12:00:00Z' })
      .nullish()
      .meta({ description: 'it failed before this time' }),
    error_contains: z
      .string()
      .min(1)
      .max(1_000)
      .nullish()
      .meta({ description: 'this text is in its last error, letter by letter' }),
  })
  .meta({ id: 'RequeueFilter' });
export type RequeueFilter = z.output<typeof RequeueFilter>;

export const Operation = z
  .object({
    operation_id: z.uuid(),
    total: z.int().meta({ description: 'the jobs that were meant when it was asked for' }),
    done: z.int(),
    created_at: Time,
    finished_at: Time.nullable(),
  })
  .meta({ id: 'Operation' });
export type Operation = z.infer<typeof Operation>;

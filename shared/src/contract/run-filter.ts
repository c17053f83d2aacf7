// What every list of runs can be narrowed by, over HTTP and by WebSocket.
import { z } from 'zod';
import { WorkflowType } from './event.ts';
import { Time } from './job.ts';
import { RunStatus } from './run.ts';
import { LABEL_PATTERN, LABEL_RULE } from './workflow.ts';

const Moment = Time.or(z.iso.datetime({ offset: true }))
  .transform((text) => new Date(text))
  .meta({ type: 'string', format: 'date-time' });

/** A run of a workflow's jobs, or a standalone event or task. */
export const RunKind = z.enum(['workflow', 'event', 'task']);
export type RunKind = z.infer<typeof RunKind>;

export const runFilter = {
  status: RunStatus.optional(),
  kind: RunKind.optional(),
  workflow_type: WorkflowType.optional().meta({ description: 'a job calls the handler of this type' }),
  label: z
    .string()
    .regex(LABEL_PATTERN, LABEL_RULE)
    .optional()
    .meta({ description: 'a job requires this label' }),
  text: z
    .string()
    .regex(/^[^\0\p{Cs}]{1,255}$/u, 'must be 1 to 255 characters')
    .optional()
    .meta({
      description:
        'part of its name, in large or small letters, or how its id begins; what begins like 0198c5a4- is looked for in ids alone',
    }),
  since: Moment.optional(),
  until: Moment.optional(),
};

export const MOST_RUNS_LISTED = 500;
export const RUNS_LISTED = 50;

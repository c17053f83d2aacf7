// Pieces that the route definitions share: ids in paths, parameters, bodies and answers.
import { z } from '@hono/zod-openapi';
import { Time } from '@wfg/shared/contract/job';
import { parseLogPosition } from '@wfg/shared/contract/log';
import { decodeCursor } from '@wfg/shared/contract/page';
import { RunStatus } from '@wfg/shared/contract/run';
import { Env, Id, LABEL_PATTERN, LABEL_RULE, WorkflowInput } from '@wfg/shared/contract/workflow';

export const WorkflowPath = z.object({ id: Id });
export const RunPath = z.object({ run: z.uuid() });
export const JobPath = z.object({ run: z.uuid(), job: Id });
export const WorkflowJobPath = z.object({ id: Id, job: Id });

/** A whole number from `min`; more than `max` counts as `max`. */
export function count(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min}`)
    .transform((text) => Math.min(Number(text), max))
    .refine((value) => value >= min, `must be at least ${min}`)
    .openapi({ type: 'integer', minimum: min, maximum: max });
}

const Moment = Time.or(z.iso.datetime({ offset: true }))
  .transform((text) => new Date(text))
  .openapi({ type: 'string', format: 'date-time' });

const FOREIGN_CURSOR = 'must be the "next" of an earlier page';

/** The keyset position of a run in a list: its id. */
const RunCursor = z
  .string()
  .transform((cursor) => decodeCursor(cursor, 1)?.[0])
  .pipe(z.uuid(FOREIGN_CURSOR))
  .openapi({ type: 'string' });

/** That of a workflow: when it was made, and its id. */
export const WorkflowCursor = z
  .string()
  .transform((cursor) => {
    const [created_at, id] = decodeCursor(cursor, 2) ?? [];
    return { created_at, id };
  })
  .pipe(z.object({ created_at: z.iso.datetime({ offset: true, error: FOREIGN_CURSOR }), id: Id }))
  .openapi({ type: 'string' });

// Queries are strict: a parameter with a typo would widen the answer.
export const RunListQuery = z.strictObject({
  status: RunStatus.optional(),
  workflow_type: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .openapi({ description: 'a job calls the handler of this type' }),
  label: z
    .string()
    .regex(LABEL_PATTERN, LABEL_RULE)
    .optional()
    .openapi({ description: 'a job requires this label' }),
  since: Moment.optional(),
  until: Moment.optional(),
  limit: count(1, 500).optional(),
  cursor: RunCursor.optional(),
});
export type RunListQuery = z.output<typeof RunListQuery>;

const After = z
  .string()
  .transform(parseLogPosition)
  .refine((position) => position !== null, 'must be "<attempt>:<sequence>"')
  .openapi({ type: 'string', example: '0:41' });

export const LogQuery = z.strictObject({
  attempt: count(0, 2 ** 31 - 1).optional(),
  after: After.optional(),
  line: count(1, 2 ** 31 - 1).optional(),
  limit: count(1, 10_000).optional(),
});
export type LogQuery = z.output<typeof LogQuery>;

export const RawLogQuery = LogQuery.pick({ attempt: true });
export const LogStreamQuery = LogQuery.pick({ after: true });
/** What a browser sends when it connects again. */
export const LogStreamHeaders = z.object({ 'last-event-id': After.optional() });

/** An answer with a JSON body. */
export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

/** The answers of the log routes that are not JSON. */
export const RAW_LOG = {
  200: {
    description: 'the text up to the end of the attempt, or what there is of it now',
    content: { 'text/plain': { schema: z.string() } },
  },
  404: { description: 'no such job or attempt' },
};
export const LOG_STREAM = {
  200: {
    description:
      'events: `log` with a LogChunk and `id: <attempt>:<sequence>`, and after the last one `end` with `{state, attempt, chunks}`',
    content: { 'text/event-stream': { schema: z.string() } },
  },
  404: { description: 'no such job' },
};

/** The bodies that are read, by their names in the document. `jsonBody` and `workflowBody` check them. */
export const BODIES = {
  WorkflowInput,
  StartRun: z.strictObject({ env: Env.optional() }),
  // Nothing of a run survives its cancel yet, so `force` makes no difference.
  CancelRun: z.strictObject({ force: z.boolean().optional() }),
};

/** A body for the document. */
export function documentedBody(name: keyof typeof BODIES) {
  return { content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } };
}

/** A workflow, as JSON or as the text of a file. */
export const documentedWorkflow = {
  required: true,
  content: {
    ...documentedBody('WorkflowInput').content,
    'application/yaml': { schema: { type: 'string' as const, description: 'the text of a workflow file' } },
  },
};

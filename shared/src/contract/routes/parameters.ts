// Pieces of paths and queries: ids, numbers, times, cursors. What comes in is text.
import { z } from 'zod';
import { decodeCursor } from '../page.ts';
import { RunId } from '../run.ts';
import { Id } from '../workflow.ts';

export const WorkflowPath = z.object({ id: Id });
export const RunPath = z.object({ run: RunId });
export const JobPath = z.object({ run: RunId, job: Id });
export const WorkflowJobPath = z.object({ id: Id, job: Id });

/** A whole number from `min`; more than `max` counts as `max`. */
export function count(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min}`)
    .transform((text) => Math.min(Number(text), max))
    .refine((value) => value >= min, `must be at least ${min}`)
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** A page of a job's attempts. */
export const AttemptQuery = z.strictObject({
  /** Those behind this one. */
  after: count(0, 2 ** 31 - 1).optional(),
  limit: count(1, 500).optional(),
});

export const FOREIGN_CURSOR = 'must be the "next" of an earlier page';

/** The keyset position of a run in a list: its id. */
export const RunCursor = z
  .string()
  .transform((cursor) => decodeCursor(cursor, 1)?.[0])
  .pipe(z.uuid(FOREIGN_CURSOR))
  .meta({ type: 'string' });

/** That of a workflow: when it was made, and its id. */
export const WorkflowCursor = z
  .string()
  .transform((cursor) => {
    const [created_at, id] = decodeCursor(cursor, 2) ?? [];
    return { created_at, id };
  })
  .pipe(z.object({ created_at: z.iso.datetime({ offset: true, error: FOREIGN_CURSOR }), id: Id }))
  .meta({ type: 'string' });

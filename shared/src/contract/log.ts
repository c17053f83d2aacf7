// A piece of a job's output: consecutive text of one stream of one attempt.
import { z } from 'zod';
import { JobState } from './job.ts';

export const LogStream = z.enum(['stdout', 'stderr']);
export type LogStream = z.infer<typeof LogStream>;

export const LogChunk = z
  .object({
    workflow_id: z.string().nullable(),
    run_id: z.uuid(),
    job_id: z.string(),
    attempt: z.int(),
    sequence: z.int(),
    line: z.int(),
    data: z.string(),
    timestamp_ms: z.int(),
    stream: LogStream,
  })
  .meta({ id: 'LogChunk' });
export type LogChunk = z.infer<typeof LogChunk>;

/** One event of a job's log: a chunk, or that its last attempt has ended and all of it was sent. */
export const LogEvent = z
  .union([
    z.object({ event: z.literal('log'), id: z.string(), data: LogChunk }),
    z.object({
      event: z.literal('end'),
      data: z.object({ state: JobState, attempt: z.int(), chunks: z.int() }),
    }),
  ])
  .meta({ id: 'LogEvent' });
export type LogEvent = z.infer<typeof LogEvent>;

/** A reader's place in a job's log, `"<attempt>:<sequence>"`: everything up to and with that chunk is known. */
export interface LogPosition {
  attempt: number;
  sequence: number;
}

/** Negative when the first comes before the second, 0 when they are the same. */
export function comparePositions(a: LogPosition, b: LogPosition): number {
  return a.attempt - b.attempt || a.sequence - b.sequence;
}

/** Reads `"<attempt>:<sequence>"`; null when it is malformed. */
export function parseLogPosition(text: string): LogPosition | null {
  const match = /^(\d{1,9}):(\d{1,9})$/.exec(text);
  return match ? { attempt: Number(match[1]), sequence: Number(match[2]) } : null;
}

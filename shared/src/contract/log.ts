// A piece of a job's output: consecutive text of one stream of one attempt.
import { z } from 'zod';

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

/** A reader's place in a job's log, `"<attempt>:<sequence>"`: everything up to and with that chunk is known. */
export interface LogPosition {
  attempt: number;
  sequence: number;
}

/** Reads `"<attempt>:<sequence>"`; null when it is malformed. */
export function parseLogPosition(text: string): LogPosition | null {
  const match = /^(\d{1,9}):(\d{1,9})$/.exec(text);
  return match ? { attempt: Number(match[1]), sequence: Number(match[2]) } : null;
}

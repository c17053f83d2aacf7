// What the routes of logs ask and answer, be the job one of a run or of the latest run of a workflow.
import { z } from 'zod';
import { LogChunk, LogEvent, parseLogPosition } from '../log.ts';
import { count } from './parameters.ts';
import { answer } from './route.ts';

const After = z
  .string()
  .transform(parseLogPosition)
  .refine((position) => position !== null, 'must be "<attempt>:<sequence>"')
  .meta({ type: 'string', example: '0:41' });

export const LogQuery = z.strictObject({
  attempt: count(0, 2 ** 31 - 1).optional(),
  after: After.optional(),
  line: count(1, 2 ** 31 - 1).optional(),
  limit: count(1, 10_000).optional(),
});

export const RawLogQuery = LogQuery.pick({ attempt: true });
export const LogStreamQuery = LogQuery.pick({ after: true });
/** What a browser sends when it connects again. */
export const LogStreamHeaders = z.object({ 'last-event-id': After.optional() });

export const LOG = {
  200: answer(z.array(LogChunk), 'chunks in order'),
  404: { description: 'no such job' },
};

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
      'each chunk with its `<attempt>:<sequence>` as `id`; after the last one `end`; `data` is JSON',
    content: { 'text/event-stream': { schema: LogEvent } },
  },
  404: { description: 'no such job' },
};

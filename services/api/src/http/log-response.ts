// A job's log as a JSON array, as text or as events, sent as fast as the client takes it and read from the database no
// faster.
import { Readable } from 'node:stream';
import type { LogChunk, LogPosition } from '@wfg/shared/contract/log';
import { WfgError } from '@wfg/shared/contract/problem';
import {
  type AttemptRange,
  type AttemptRow,
  type JobAttempts,
  readAttempts,
} from '@wfg/shared/queries/attempts';
import { type LogFilter, readJobLog } from '@wfg/shared/queries/job-log';
import { isEnded } from '@wfg/shared/rules/states';
import type pg from 'pg';
import type { Feeds } from '../live/feeds.ts';
import { before } from '../live/log-pages.ts';
import { logStream, type StreamSettings } from '../live/log-stream.ts';
import type { Form } from '../live/shared-frame.ts';

/** The log itself. */
const TEXT: Form = {
  key: 'text',
  encode: ({ frame }) => Buffer.from(frame.op === 'log' ? frame.data : ''),
};

/** LogChunk[] of the job. What fails after the first chunks breaks the answer off, so that it is not taken for whole. */
export async function logResponse(
  pool: pg.Pool,
  run: string,
  job: string,
  filter: LogFilter,
): Promise<Response> {
  const found = await knownAttempts(pool, run, job, rangeOf(filter));
  const batches = readJobLog(pool, found, filter);
  // Read before the answer begins, so that it can still be an error.
  const first = await batches.next();
  const text = jsonArray(first.done ? [] : first.value, batches);
  return new Response(Readable.toWeb(Readable.from(text, { objectMode: false })), {
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}

/**
 * What one attempt printed, as text: up to its seal, or what there is of it now. The latest, unless one is named. All who
 * load it at about the same place share its pages.
 */
export async function rawLogResponse(
  { pool, feeds }: { pool: pg.Pool; feeds: Feeds },
  run: string,
  job: string,
  attempt: number | undefined,
): Promise<Response> {
  const found = await knownAttempts(pool, run, job, { first: attempt ?? 'latest', limit: 1 });
  const chosen = found.attempts.find((one) => one.attempt === (attempt ?? one.attempt));
  if (!chosen && attempt !== undefined) {
    throw unknownAttempt(attempt, job, run);
  }
  const pieces = () => (chosen ? rawLog(feeds, run, job, chosen) : nothing());
  // Read before the answer begins, so that it can still be an error; and again from the page that is kept when the body is
  // read, since one that nobody reads, as of a HEAD, is not closed either.
  const first = pieces();
  await first.next();
  await first.return(undefined);
  return new Response(ReadableStream.from(pieces()), {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `inline; filename="${[run, job, chosen?.attempt ?? 0].join('-')}.log"`,
      'cache-control': 'no-store',
    },
  });
}

/** The job's log as events, from behind `after` until it has ended. */
export async function logStreamResponse(
  run: string,
  job: string,
  after: LogPosition | undefined,
  settings: StreamSettings,
): Promise<Response> {
  settings.hub.admit(settings.credential);
  const found = await knownAttempts(settings.pool, run, job, { first: 'latest' });
  const last = found.attempts.at(-1)?.attempt ?? 0;
  // An EventSource that is refused does not come back.
  if (after && isEnded(found.state) && after.attempt > last) throw unknownAttempt(after.attempt, job, run);
  return new Response(logStream(found, after, settings), {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // A proxy that collects the answer would hold lines back.
      'x-accel-buffering': 'no',
      // A server that stops waits for every connection to close.
      connection: 'close',
    },
  });
}

/** The attempts that the filter may choose. */
function rangeOf({ attempt, line, after }: LogFilter): AttemptRange {
  if (attempt !== undefined) return { first: attempt, limit: 1 };
  return { first: line === undefined ? after?.attempt : 'latest' };
}

async function knownAttempts(
  pool: pg.Pool,
  run: string,
  job: string,
  range: AttemptRange,
): Promise<JobAttempts> {
  const found = await readAttempts(pool, run, job, range);
  if (!found) throw unknownJob(job, `run ${run}`);
  return found;
}

async function* rawLog(
  feeds: Feeds,
  run: string,
  job: string,
  { attempt, log_chunks }: AttemptRow,
): AsyncGenerator<Uint8Array> {
  using opened = feeds.openLog(run, job);
  let place = before(attempt);
  while (place.sequence < log_chunks - 1) {
    const page = await opened.feed.pages.share(place);
    const own = page?.items.filter((item) => item.attempt === attempt && item.sequence < log_chunks) ?? [];
    if (own.length === 0) throw new Error(`the log of ${job} in ${run} ends early: it was removed meanwhile`);
    for (const item of own) {
      place = item;
      const piece = item.frame.as(TEXT);
      if (piece.length > 0) yield piece;
    }
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* jsonArray(first: LogChunk[], rest: AsyncIterable<LogChunk[]>): AsyncGenerator<string> {
  yield `[${jsonItems(first)}`;
  for await (const batch of rest) yield `,${jsonItems(batch)}`;
  yield ']';
}

function jsonItems(chunks: readonly LogChunk[]): string {
  return JSON.stringify(chunks).slice(1, -1);
}

/** What is answered where a path names a job that does not exist. */
function unknownAttempt(attempt: number, job: string, run: string): WfgError {
  return new WfgError('not_found', `there is no attempt ${attempt} of job ${job} in run ${run}`);
}

export function unknownJob(job: string, of: string): WfgError {
  return new WfgError('not_found', `there is no job ${job} in ${of}`);
}

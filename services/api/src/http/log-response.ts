// A job's log as a JSON array, sent as fast as the client takes it and read from the database no faster.
import { Readable } from 'node:stream';
import type { LogChunk } from '@wfg/shared/contract/log';
import { WfgError } from '@wfg/shared/contract/problem';
import { readAttempts } from '@wfg/shared/queries/attempts';
import { type LogFilter, readJobLog } from '@wfg/shared/queries/job-log';
import type pg from 'pg';

/** LogChunk[] of the job. What fails after the first chunks breaks the answer off, so that it is not taken for whole. */
export async function logResponse(
  pool: pg.Pool,
  run: string,
  job: string,
  filter: LogFilter,
): Promise<Response> {
  const found = await readAttempts(pool, run, job);
  if (!found) throw unknownJob(job, `run ${run}`);
  const batches = readJobLog(pool, found, filter);
  // Read before the answer begins, so that it can still be an error.
  const first = await batches.next();
  const text = jsonArray(first.done ? [] : first.value, batches);
  return new Response(Readable.toWeb(Readable.from(text, { objectMode: false })), {
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}

async function* jsonArray(first: LogChunk[], rest: AsyncIterable<LogChunk[]>): AsyncGenerator<string> {
  yield `[${jsonItems(first)}`;
  for await (const batch of rest) yield `,${jsonItems(batch)}`;
  yield ']';
}

function jsonItems(chunks: readonly LogChunk[]): string {
  return JSON.stringify(chunks).slice(1, -1);
}

export function unknownJob(job: string, of: string): WfgError {
  return new WfgError('not_found', `there is no job ${job} in ${of}`);
}

// The whole log of a job, attempt after attempt, read piece by piece so that its length does not matter.
import type { LogChunk, LogPosition } from '../contract/log.ts';
import type { Queryable } from '../db/pool.ts';
import type { AttemptRow, JobAttempts } from './attempts.ts';
import { readLog } from './logs.ts';

export interface LogFilter {
  /** Only this attempt. */
  attempt?: number | undefined;
  /** Only what is behind this place. */
  after?: LogPosition | undefined;
  /** From the chunk with this line (from 1) on; of the latest attempt, unless one is named. */
  line?: number | undefined;
  /** At most so many chunks. */
  limit?: number | undefined;
}

/** The chunks in order, each array as it was read; never beyond what an ended attempt sealed. */
export async function* readJobLog(
  db: Queryable,
  job: JobAttempts,
  filter: LogFilter,
): AsyncGenerator<LogChunk[]> {
  let left = filter.limit ?? Number.POSITIVE_INFINITY;
  for (const attempt of chosenAttempts(job.attempts, filter)) {
    let after = await startOf(db, job, attempt, filter);
    for (let more = true; more && left > 0; ) {
      const { run_id, position } = job;
      const { day, sealed } = attempt;
      const page = await readLog(db, {
        day,
        run_id,
        position,
        attempt: attempt.attempt,
        after,
        sealed,
        limit: left,
      });
      const { rows } = page;
      if (rows.length > 0) {
        yield rows.map(({ sequence, line, data, at, stream }) => ({
          workflow_id: job.workflow_id,
          run_id,
          job_id: job.job_id,
          attempt: attempt.attempt,
          sequence,
          line,
          data,
          timestamp_ms: at.getTime(),
          stream,
        }));
      }
      after = rows.at(-1)?.sequence ?? after;
      left -= rows.length;
      more = page.more;
    }
  }
}

function chosenAttempts(attempts: readonly AttemptRow[], { attempt, after, line }: LogFilter): AttemptRow[] {
  const only = attempt ?? (line === undefined ? undefined : attempts.at(-1)?.attempt);
  const first = after?.attempt ?? 0;
  return attempts.filter(
    (one) => one.attempt >= first && one.sealed !== 0 && (only === undefined || one.attempt === only),
  );
}

const BEFORE_LINE = `
select coalesce(max(sequence), -1) as sequence from wfg_logs
where day = $1::date and run_id = $2::uuid and position = $3::int and attempt = $4::int and lines < $5::bigint`;

/** The sequence behind which the attempt's chunks are wanted. */
async function startOf(
  db: Queryable,
  { run_id, position }: JobAttempts,
  { attempt, day }: AttemptRow,
  { after, line }: LogFilter,
): Promise<number> {
  const behind = after?.attempt === attempt ? after.sequence : -1;
  if (line === undefined) return behind;
  const { rows } = await db.query<{ sequence: number }>(BEFORE_LINE, [day, run_id, position, attempt, line]);
  return Math.max(behind, rows[0]?.sequence ?? -1);
}

// A page of a job's attempts: a task leaves some for each of its steps, however many they are.
import type { Attempt } from '@wfg/shared/contract/job';
import type { AttemptQuery } from '@wfg/shared/contract/routes/parameters';
import { readAttempts, toAttempt } from '@wfg/shared/queries/attempts';
import type { Context } from 'hono';
import type pg from 'pg';
import type { z } from 'zod';
import { unknownJob } from './log-response.ts';
import { nextLink } from './next-link.ts';

const DEFAULT_LIMIT = 500;

/** The attempts that were asked for; the answer of `c` gets the link to those behind them. */
export async function attemptsPage(
  c: Context,
  pool: pg.Pool,
  job: { run: string; job: string },
  { after = -1, limit = DEFAULT_LIMIT }: z.output<typeof AttemptQuery>,
): Promise<Attempt[]> {
  const found = await readAttempts(pool, job.run, job.job, { first: after + 1, limit: limit + 1 });
  if (!found) throw unknownJob(job.job, `run ${job.run}`);
  const page = found.attempts.slice(0, limit);
  const last = page.at(-1);
  if (last && found.attempts.length > limit)
    c.header('link', nextLink(c.req.url, String(last.attempt), 'after'));
  return page.map(toAttempt);
}

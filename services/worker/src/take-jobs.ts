// Takes due jobs from the queue for one worker, and tells whoever watches their runs.
import { randomBytes } from 'node:crypto';
import type { Doorbell } from '@wfg/shared/db/doorbell';
import type { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { type ClaimedJob, type ClaimRequest, claimJobs } from '@wfg/shared/queries/claim';
import { claimedJobs, claimsMade } from '@wfg/shared/runtime/counters';
import type { LostClaims } from '@wfg/shared/runtime/lost-claims';
import type pg from 'pg';

/** What is the same for all claims of a process. */
export interface Claimer extends Omit<ClaimRequest, 'limit' | 'nonce'> {
  pool: pg.Pool;
  doorbell: Doorbell;
  lostClaims: LostClaims;
  memory: ClaimMemory;
}

/** Why a claimer looks: something was rung, it is time, it has much to do, or a place has become free. */
export type Why = 'bell' | 'poll' | 'hot' | 'freed';

/** At most `limit` (from 1) due jobs, each with a lease. */
export async function takeJobs(
  { pool, doorbell, lostClaims, memory, ...claimer }: Claimer,
  limit: number,
  why: Why,
): Promise<ClaimedJob[]> {
  const nonce = (randomBytes(8).readBigUInt64BE() >> 1n).toString();
  const jobs = await claimJobs(pool, { ...claimer, limit, nonce }, memory).catch((error: unknown) => {
    lostClaims.add({ worker_id: claimer.workerId, nonce });
    throw error;
  });
  claimsMade.inc({ why, found: jobs.length > 0 ? 'yes' : 'no' });
  for (const { kind } of jobs) claimedJobs.inc({ kind });
  if (jobs.length > 0) doorbell.ring({ runs: [...new Set(jobs.map((job) => job.run_id))] });
  return jobs;
}

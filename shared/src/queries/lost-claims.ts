// Hands back what was claimed by claims whose answer was lost: nobody knows that it has a lease on it.
import type { Queryable } from '../db/pool.ts';
import { type Finished, finishJobs, type Result } from './finish.ts';
import type { Lease } from './leases.ts';

/** A claim, by what was known before it was sent. */
export interface LostClaim {
  worker_id: string;
  nonce: string;
}

// By the index of active jobs over their workers.
const FIND = `
select j.run_id, j.position, j.attempt, j.nonce::text
from unnest($1::text[], $2::bigint[]) as c (worker_id, nonce)
join wfg_jobs j on j.worker_id = c.worker_id and j.nonce = c.nonce
where j.state = 'active'
order by j.run_id, j.position`;

export interface HandedBack {
  lease: Lease;
  finished: Finished;
}

/** Hands back, without a charge, what these claims took; what someone else holds locked is `busy`: ask again. */
export async function handBackClaims(db: Queryable, claims: readonly LostClaim[]): Promise<HandedBack[]> {
  const { rows } = await db.query<Lease>(FIND, [
    claims.map(({ worker_id }) => worker_id),
    claims.map(({ nonce }) => nonce),
  ]);
  const finished = await finishJobs(db, rows.map(resultOf));
  return finished.flatMap((one) => {
    const lease = rows[one.index];
    return lease ? [{ lease, finished: one }] : [];
  });
}

function resultOf(lease: Lease): Result {
  return {
    ...lease,
    outcome: 'handed_back',
    retryable: false,
    error: 'the answer to its claim was lost',
    exit_code: null,
    outputs: null,
    log_chunks: 0,
    log_lines: 0,
    log_bytes: 0,
  };
}

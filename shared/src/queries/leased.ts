// Reads a job that is claimed by the lease on it.
import { parseLease } from '../contract/lease.ts';
import type { Queryable } from '../db/pool.ts';
import { CLAIMED_COLUMNS, type ClaimedJob } from './claim.ts';
import { heldBy } from './leases.ts';
import { LEASE_OVER } from './outage.ts';

const READ = `
select ${CLAIMED_COLUMNS}, coalesce(r.env, '{}') as run_env
from wfg_jobs j left join wfg_runs r on r.id = j.run_id
where j.run_id = $1::uuid and j.position = $2::int and ${heldBy('$3::int', '$4::bigint')} and not ${LEASE_OVER}`;

/** The job as it was handed over with the lease; null when that is over. */
export async function readLeased(db: Queryable, leaseId: string): Promise<ClaimedJob | null> {
  const lease = parseLease(leaseId);
  if (!lease) return null;
  const { run_id, position, attempt, nonce } = lease;
  const { rows } = await db.query<ClaimedJob>(READ, [run_id, position, attempt, nonce]);
  return rows[0] ?? null;
}

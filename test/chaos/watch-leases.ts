// Watches the leases of what runs, to know later until when each was good.
import type { Pool } from 'pg';
import { sampleEach } from '../support/sample-each.ts';
import { attemptOf, type SeenLease } from './history.ts';

const ACTIVE = `
  select run_id::text as run, job_id as job, attempt, (extract(epoch from lease_expires_at) * 1000)::float8 as expires_at
  from wfg_jobs where state = 'active'`;

export interface LeaseWatch extends AsyncDisposable {
  /** The latest that was seen of each attempt. */
  seen: () => SeenLease[];
}

/** While the database is away nothing is seen. */
export function watchLeases(pool: Pool, eachMs: number): LeaseWatch {
  const latest = new Map<string, SeenLease>();
  const sampling = sampleEach(eachMs, async () => {
    const { rows } = await pool.query<SeenLease>(ACTIVE);
    for (const lease of rows) {
      const key = attemptOf(lease);
      if (lease.expires_at > (latest.get(key)?.expires_at ?? 0)) latest.set(key, lease);
    }
  });
  return { ...sampling, seen: () => [...latest.values()] };
}

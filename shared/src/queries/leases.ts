// Renewing leases, and looking at them, many in one statement. No index holds the expiry, so a renewal stays a heap-only
// update.
import type { Lease } from '../contract/lease.ts';
import type { Pool } from 'pg';
import type { Queryable } from '../db/pool.ts';
import { errorCode, SQLSTATE } from '../db/sqlstate.ts';
import { withTx } from '../db/tx.ts';

export type { Lease };

/**
 * As SQL: the job `j` is active, and held by the lease with this attempt and nonce. Only what is active has an expiry.
 * Asked for the state, the planner reads all of wfg_jobs_active in place of the key, with the dead entries that an open
 * transaction keeps there.
 */
export const heldBy = (attempt: string, nonce: string) =>
  `j.lease_expires_at is not null and j.attempt = ${attempt} and j.nonce = ${nonce}`;

interface LeaseState {
  /** 0-based place in the leases given. */
  index: number;
  /** False: the job is no longer this lease's, whatever runs for it must be killed. */
  held: boolean;
  /** A cancel was asked for. */
  cancelled: boolean;
  /** By this look, if it is held. */
  renewed: boolean;
}

const MINE = `mine as (
  select * from unnest($1::uuid[], $2::int[], $3::int[], $4::bigint[])
    with ordinality as m (run_id, position, attempt, nonce, index)
)`;

const states = (renewed: string) => `
select (m.index - 1)::int as index,
  (${heldBy('m.attempt', 'm.nonce')}) is true as held,
  (j.cancel_requested_at is not null) as cancelled,
  ${renewed} as renewed
from mine m
left join wfg_jobs j on j.run_id = m.run_id and j.position = m.position
order by m.index`;

const LOOK = `with ${MINE} ${states('false')}`;

const LATER = `lease_expires_at = wfg_now() + make_interval(secs => j.lease_secs)`;

const RENEW = `
with ${MINE}, locked as (
  select j.run_id, j.position
  from mine m
  join wfg_jobs j on j.run_id = m.run_id and j.position = m.position
  where ${heldBy('m.attempt', 'm.nonce')}
  order by j.run_id, j.position
  for update of j skip locked
), renewed as (
  update wfg_jobs j
  set ${LATER}
  from locked l
  where j.run_id = l.run_id and j.position = l.position
  returning j.run_id, j.position
)${states('(m.run_id, m.position) in (select run_id, position from renewed)')}`;

const RENEW_ONE = `
update wfg_jobs j
set ${LATER}
where j.run_id = $1::uuid and j.position = $2::int and ${heldBy('$3::int', '$4::bigint')}`;

/**
 * Renews each lease by the TTL it was claimed with, and says for each whether it is still held and whether a cancel
 * was asked for. A row that someone else holds locked is not waited for: it counts as held, and is not renewed.
 */
export async function renewLeases(db: Queryable, leases: readonly Lease[]): Promise<LeaseState[]> {
  if (leases.length === 0) return [];
  const { rows } = await db.query<LeaseState>(RENEW, leaseColumns(leases));
  return rows;
}

/**
 * Waits up to `lockMs` for the row of a lease that someone else holds locked, and renews it the moment that it is free,
 * so that no reaper comes first although its time may be over by then.
 */
export async function renewWhenFree(
  pool: Pool,
  { run_id, position, attempt, nonce }: Lease,
  lockMs: number,
): Promise<void> {
  try {
    await withTx(pool, (tx) => tx.query(RENEW_ONE, [run_id, position, attempt, nonce]), { lockMs });
  } catch (error) {
    if (errorCode(error) !== SQLSTATE.lockNotAvailable) throw error;
  }
}

/** The same as `renewLeases` without renewing them: it reads the rows, and locks and writes nothing. */
export async function lookAtLeases(db: Queryable, leases: readonly Lease[]): Promise<LeaseState[]> {
  if (leases.length === 0) return [];
  const { rows } = await db.query<LeaseState>(LOOK, leaseColumns(leases));
  return rows;
}

/** The leases as four arrays, for `unnest`. */
export function leaseColumns(leases: readonly Lease[]): unknown[] {
  return [
    leases.map((lease) => lease.run_id),
    leases.map((lease) => lease.position),
    leases.map((lease) => lease.attempt),
    leases.map((lease) => lease.nonce),
  ];
}

// Renewing leases, and looking at them, many in one statement. No index holds the expiry, so a renewal stays a heap-only
// update.
import type { Lease } from '../contract/lease.ts';
import type { Queryable } from '../db/pool.ts';

export type { Lease };

interface LeaseState {
  /** 0-based place in the leases given. */
  index: number;
  /** False: the job is no longer this lease's, whatever runs for it must be killed. */
  held: boolean;
  /** A cancel was asked for. */
  cancelled: boolean;
}

const MINE = `mine as (
  select * from unnest($1::uuid[], $2::int[], $3::int[], $4::bigint[])
    with ordinality as m (run_id, position, attempt, nonce, index)
)`;

const STATES = `
select (m.index - 1)::int as index,
  (j.state = 'active' and j.attempt = m.attempt and j.nonce = m.nonce) is true as held,
  (j.cancel_requested_at is not null) as cancelled
from mine m
left join wfg_jobs j on j.run_id = m.run_id and j.position = m.position
order by m.index`;

const LOOK = `with ${MINE} ${STATES}`;

const RENEW = `
with ${MINE}, locked as (
  select j.run_id, j.position
  from mine m
  join wfg_jobs j on j.run_id = m.run_id and j.position = m.position
  where j.state = 'active' and j.attempt = m.attempt and j.nonce = m.nonce
  order by j.run_id, j.position
  for update of j skip locked
), renewed as (
  update wfg_jobs j
  set lease_expires_at = wfg_now() + make_interval(secs => j.lease_secs)
  from locked l
  where j.run_id = l.run_id and j.position = l.position
)${STATES}`;

/**
 * Renews each lease by the TTL it was claimed with, and says for each whether it is still held and whether a cancel
 * was asked for. A row locked by someone else counts as held and is renewed by the next beat.
 */
export async function renewLeases(db: Queryable, leases: readonly Lease[]): Promise<LeaseState[]> {
  if (leases.length === 0) return [];
  const { rows } = await db.query<LeaseState>(RENEW, leaseColumns(leases));
  return rows;
}

/** The same without renewing them: it reads the rows, and locks and writes nothing. */
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

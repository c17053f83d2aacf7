// Leases of workers that work over HTTP: renewed one by one, and held still while something is written under them.
import { z } from 'zod';
import type { Lease } from '../contract/lease.ts';
import type { Queryable } from '../db/pool.ts';
import { emptyPush, type PushedLog, type PushedRow } from '../rules/pushed-log.ts';
import { SHORTEST_BEAT_SECS } from './foreign-workers.ts';
import { heldBy } from './leases.ts';
import { LEASE_OVER } from './outage.ts';

// Unlike one of our own, which may be late by its own fault alone, a lease that has expired is not renewed: its worker
// must not learn later than the reaper might act. That a worker renews a lease is a sign of its life.
const RENEW = `
with renewed as (
  update wfg_jobs j
  set lease_expires_at = wfg_now() + make_interval(secs => j.lease_secs)
  where j.run_id = $1::uuid and j.position = $2::int and ${heldBy('$3::int', '$4::bigint')} and not ${LEASE_OVER}
  returning j.worker_id, j.cancel_requested_at is not null as cancelled
), beaten as (
  update wfg_workers w set last_heartbeat = wfg_now()
  from renewed r
  where w.worker_id = r.worker_id and w.instance is null
    and w.last_heartbeat < wfg_now() - make_interval(secs => $5::int)
)
select cancelled from renewed`;

/** Renews a lease by the time it was claimed with; says whether the job is to stop, or null when the lease is lost. */
export async function renewForeign(db: Queryable, lease: Lease): Promise<{ cancelled: boolean } | null> {
  const { rows } = await db.query<{ cancelled: boolean }>(RENEW, [...values(lease), SHORTEST_BEAT_SECS]);
  return rows[0] ?? null;
}

const LOCK = `
select j.job_id, j.workflow_id, to_char(j.started_at at time zone 'utc', 'YYYY-MM-DD') as day
from wfg_jobs j
where j.run_id = $1::uuid and j.position = $2::int and ${heldBy('$3::int', '$4::bigint')}
for update`;

// A statement of its own, behind the lock: it is to see what the holder before us has written.
const LAST = `
select sequence + 1 as chunks, lines, bytes, sender from wfg_logs
where day = $1::date and run_id = $2::uuid and position = $3::int and attempt = $4::int
order by sequence desc limit 1`;

/** What a row of the log says beyond its totals. */
const Sender = z.object({
  next: z.int(),
  open: z.object({ stdout: z.int().nullable(), stderr: z.int().nullable() }),
  is_full: z.boolean(),
});

export interface HeldAttempt {
  job_id: string;
  workflow_id: string | null;
  /** The day it started: the partition of its log. */
  day: string;
  log: PushedLog;
}

interface LastRow {
  chunks: number;
  lines: number;
  bytes: number;
  sender: unknown;
}

/** Holds the attempt for this transaction, so that pushes and the result come one after another; null when it is lost. */
export async function holdAttempt(tx: Queryable, lease: Lease): Promise<HeldAttempt | null> {
  const found = await tx.query<Omit<HeldAttempt, 'log'>>(LOCK, values(lease));
  const [job] = found.rows;
  if (!job) return null;
  const last = await tx.query<LastRow>(LAST, [job.day, lease.run_id, lease.position, lease.attempt]);
  const [row] = last.rows;
  if (!row) return { ...job, log: emptyPush() };
  const { chunks, lines, bytes, sender } = row;
  return { ...job, log: { ...Sender.parse(sender), chunks, lines, bytes } };
}

function values({ run_id, position, attempt, nonce }: Lease): unknown[] {
  return [run_id, position, attempt, nonce];
}

const STORE = `
insert into wfg_logs (day, run_id, position, attempt, sequence, line, lines, bytes, at, stream, data, sender)
select $1::date, $2::uuid, $3::int, $4::int, r.*, case when r.sequence + 1 = $12::int then $13::json end
from unnest($5::int[], $6::bigint[], $7::bigint[], $8::bigint[], $9::timestamptz[], $10::text[], $11::text[])
  as r (sequence, line, lines, bytes, at, stream, data)`;

/** Adds rows to the log of an attempt that is held; `log` is how far it has come with them. */
export async function storePush(
  tx: Queryable,
  { run_id, position, attempt }: Lease,
  { day, log }: HeldAttempt,
  rows: readonly PushedRow[],
): Promise<void> {
  const { next, open, is_full, chunks } = log;
  await tx.query(STORE, [
    day,
    run_id,
    position,
    attempt,
    rows.map((row) => row.sequence),
    rows.map((row) => row.line),
    rows.map((row) => row.lines),
    rows.map((row) => row.bytes),
    rows.map((row) => row.at),
    rows.map((row) => row.stream),
    rows.map((row) => row.data),
    chunks,
    JSON.stringify({ next, open, is_full }),
  ]);
}

const NOT_ON = `
select spec -> 'not_on' as codes from wfg_jobs where run_id = $1::uuid and position = $2::int and kind = 'command'`;

/** The exit codes after which a command is not tried again. */
export async function readNotOn(db: Queryable, { run_id, position }: Lease): Promise<number[]> {
  const { rows } = await db.query<{ codes: number[] | null }>(NOT_ON, [run_id, position]);
  return rows[0]?.codes ?? [];
}

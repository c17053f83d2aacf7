// Makes a standalone event: a job that is a run of its own.
import { toStorableJson } from '../contract/json.ts';
import type { Backoff } from '../contract/backoff.ts';
import type { Queryable } from '../db/pool.ts';
import { type EventRow, eventColumns } from './event-row.ts';

export interface NewEvent {
  /** Null: a new one. */
  id?: string | null;
  workflow_type: string;
  payload: unknown;
  max_attempts: number;
  /** Null: now. */
  run_at: Date | null;
  /** How long it may wait for its first attempt once it is due; null: for ever. */
  expires_in_secs: number | null;
  priority: number;
  /** Null: what its handler declares. */
  backoff: Backoff | null;
  /** Null: what its handler declares. */
  timeout_secs: number | null;
}

// No row is locked or read, so enqueues never wait for each other.
const ENQUEUE = `
insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, payload, max_attempts,
  run_at, expires_secs, expires_at, priority, backoff, timeout_secs)
select coalesce($9::uuid, wfg_uuid7()), 0, 'main', $1::text, $1, 'pending', 'event', array[':event ' || $1], $2::json, $3::int,
  due.at, $5::int, due.at + make_interval(secs => $5), $6::int, $7::json, $8::int
from (select coalesce($4::timestamptz, wfg_now()) as at) due
returning ${eventColumns('wfg_jobs')}, wfg_jobs.lane::text`;

export interface EnqueuedEvent extends EventRow {
  lane: string;
}

/** Stores the event; returns it as it is then, with the lane it waits in. */
export async function enqueueEvent(db: Queryable, event: NewEvent): Promise<EnqueuedEvent> {
  const {
    workflow_type,
    payload,
    max_attempts,
    run_at,
    expires_in_secs,
    priority,
    backoff,
    timeout_secs,
    id,
  } = event;
  const { rows } = await db.query<EnqueuedEvent>(ENQUEUE, [
    workflow_type,
    toStorableJson(payload),
    max_attempts,
    run_at,
    expires_in_secs,
    priority,
    backoff && JSON.stringify(backoff),
    timeout_secs,
    id,
  ]);
  const [row] = rows;
  if (!row) throw new Error('the insert of an event returned no row');
  return row;
}

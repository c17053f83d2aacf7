// Workers that work over HTTP, in the registry: they have no instance. What they hold is told by the jobs' rows.
import type { Queryable } from '../db/pool.ts';
import { OFFLINE_AFTER_SECS } from './workers.ts';

/** A beat that follows another sooner is not written: workers that find nothing ask again and again. */
export const SHORTEST_BEAT_SECS = 5;

// A worker of our own that lives keeps its name.
const REGISTER = `
insert into wfg_workers as w (worker_id, labels, handlers, concurrency)
values ($1::text, $2::text[], $3::text[], 1)
on conflict (worker_id) do update
set instance = null, labels = excluded.labels, handlers = excluded.handlers, tasks = '{}', modules = '[]',
    concurrency = 1, handler_concurrency = null, version = '', host = '', registered_at = wfg_now(), last_heartbeat = wfg_now(),
    draining = false
where w.instance is null or w.last_heartbeat < wfg_now() - make_interval(secs => $4::int)`;

/** Enters a worker, or the same one started anew. False: a worker of our own has this name. */
export async function registerForeign(
  db: Queryable,
  {
    worker_id,
    labels,
    handlers,
  }: { worker_id: string; labels: readonly string[]; handlers: readonly string[] },
): Promise<boolean> {
  const { rowCount } = await db.query(REGISTER, [worker_id, labels, handlers, OFFLINE_AFTER_SECS]);
  return rowCount === 1;
}

const BEAT = `
update wfg_workers set last_heartbeat = wfg_now() where worker_id = $1::text and instance is null`;

/** A sign of life. False: no such worker is known. */
export async function beatForeign(db: Queryable, workerId: string): Promise<boolean> {
  const { rowCount } = await db.query(BEAT, [workerId]);
  return rowCount === 1;
}

// Locked in one order, and what is locked is being written: several apis may beat for the same workers.
const BEAT_ALL = `
update wfg_workers w set last_heartbeat = wfg_now()
from (
  select worker_id from wfg_workers
  where worker_id = any($1::text[]) and instance is null
    and last_heartbeat < wfg_now() - make_interval(secs => $2::int)
  order by worker_id
  for update skip locked
) known
where w.worker_id = known.worker_id`;

/** Signs of life of workers that wait for a job. */
export async function beatWaiting(db: Queryable, workers: readonly string[]): Promise<void> {
  await db.query(BEAT_ALL, [workers, SHORTEST_BEAT_SECS]);
}

const REMOVE = `delete from wfg_workers where worker_id = $1::text`;

/** Takes a worker off the list. One of our own that lives is back with its next beat. */
export async function removeWorker(db: Queryable, workerId: string): Promise<void> {
  await db.query(REMOVE, [workerId]);
}

// What it claims with is what it offers. A worker that never registered is entered; a row that says all this already,
// and was written a moment ago, is only read. The row of a worker of our own that has the same name is left alone.
const MEET = `
with known as (
  select instance, handlers, labels, last_heartbeat from wfg_workers where worker_id = $1::text
), met as (
  insert into wfg_workers as w (worker_id, labels, concurrency)
  select $1::text, $2::text[], 1
  where not exists (
    select from known
    where instance is not null
      or labels = $2::text[] and last_heartbeat > wfg_now() - make_interval(secs => $3::int))
  on conflict (worker_id) do update set labels = excluded.labels, last_heartbeat = wfg_now()
  where w.instance is null
)
select handlers from known where instance is null`;

/** Notes that a worker claims, and returns the types of events that it registered for. */
export async function meetClaimant(
  db: Queryable,
  workerId: string,
  labels: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ handlers: string[] }>(MEET, [workerId, labels, SHORTEST_BEAT_SECS]);
  return rows[0]?.handlers ?? [];
}

// The registry of workers: who is there, what they offer, when they were last heard.
import type { Queryable } from '../db/pool.ts';
import type { Peer } from '../rules/chosen.ts';

export const BEAT_SECS = 10;
/** A worker that missed three beats is shown as offline. */
export const OFFLINE_AFTER_SECS = 3 * BEAT_SECS;
const PRUNE_AFTER_HOURS = 24;

/** As SQL: how the worker `w` is, which is busy if the condition holds. */
export function statusOf(busy: string): string {
  return `case
    when w.last_heartbeat < wfg_now() - make_interval(secs => ${OFFLINE_AFTER_SECS}) then 'offline'
    when w.draining then 'draining'
    when ${busy} then 'busy'
    else 'idle'
  end`;
}

export interface WorkerCard {
  worker_id: string;
  instance: string;
  labels: readonly string[];
  /** Of each loaded module the labels of what it handles, as `:event a` or `:task b`. */
  modules: readonly (readonly string[])[];
  /** Commands at once. */
  concurrency: number;
  /** Handlers at once, of each module. */
  handler_concurrency: number;
  version: string;
  host: string;
  /** Why it cannot run what it should; null when it can. */
  problem: string | null;
}

const REGISTER = `
insert into wfg_workers (worker_id, instance, labels, concurrency, handler_concurrency, version, host, problem,
  modules, handlers, tasks)
values ($1::text, $2::uuid, $3::text[], $4::int, $5::int, $6::text, $7::text, $8::text, $9::json, $10::text[], $11::text[])
on conflict (worker_id) do update
set instance = excluded.instance, labels = excluded.labels, modules = excluded.modules,
    handlers = excluded.handlers, tasks = excluded.tasks, concurrency = excluded.concurrency,
    handler_concurrency = excluded.handler_concurrency, version = excluded.version, host = excluded.host,
    problem = excluded.problem, hot = '{}', hot_until = null, full_of = '{}', registered_at = wfg_now(), last_heartbeat = wfg_now(), draining = false`;

/** Enters a worker, or the same worker started anew. */
export async function registerWorker(db: Queryable, card: WorkerCard): Promise<void> {
  const { worker_id, instance, labels, concurrency, handler_concurrency, version, host, problem } = card;
  const own = [worker_id, instance, labels, concurrency, handler_concurrency, version, host, problem];
  await db.query(REGISTER, [...own, ...handled(card)]);
}

/** The modules, then what they handle: types of events, names of tasks. */
function handled({ modules }: WorkerCard): [modules: string, handlers: string[], tasks: string[]] {
  const behind = (prefix: string) =>
    modules
      .flat()
      .flatMap((label) => (label.startsWith(prefix) ? label.slice(prefix.length) : []))
      .sort();
  return [JSON.stringify(modules), behind(':event '), behind(':task ')];
}

// With the peers it needs no statement of its own for them.
const BEAT = `
with beaten as (
  update wfg_workers
  set last_heartbeat = wfg_now(), draining = $3::bool, problem = $4::text, modules = $5::json, handlers = $6::text[],
      tasks = $7::text[]
  where worker_id = $1::text and instance = $2::uuid
  returning worker_id
)
select exists (select from beaten) as beaten, coalesce((
  select json_agg(json_build_object('worker_id', w.worker_id, 'offered', w.offered))
  from wfg_workers w
  where w.instance is not null and not w.draining and w.problem is null
    and w.last_heartbeat >= wfg_now() - make_interval(secs => ${OFFLINE_AFTER_SECS})
), '[]') as peers`;

/**
 * A sign of life, with what may change. Returns the workers that listen and take jobs, as they were; null: the row is gone
 * or another start of this worker owns it.
 */
export async function beatWorker(db: Queryable, card: WorkerCard, draining: boolean): Promise<Peer[] | null> {
  const { worker_id, instance, problem } = card;
  const { rows } = await db.query<{ beaten: boolean; peers: Peer[] }>(BEAT, [
    worker_id,
    instance,
    draining,
    problem,
    ...handled(card),
  ]);
  return rows[0]?.beaten ? rows[0].peers : null;
}

/** A hot worker says so once a second. */
const HOT_SECS = 2;

const MARK_BUSY = `
update wfg_workers
set hot = $3::text[], hot_until = case when cardinality($3::text[]) > 0 then wfg_now() + make_interval(secs => ${HOT_SECS}) end,
  full_of = $4::text[]
where worker_id = $1::text and instance = $2::uuid`;

/** Which kinds of jobs nobody has to ring this worker for: for two seconds those that are hot, until told otherwise the full. */
export async function markBusy(
  db: Queryable,
  {
    worker_id,
    instance,
    hot,
    full,
  }: { worker_id: string; instance: string; hot: readonly string[]; full: readonly string[] },
): Promise<void> {
  await db.query(MARK_BUSY, [worker_id, instance, hot, full]);
}

const DEREGISTER = `delete from wfg_workers where worker_id = $1::text and instance = $2::uuid`;

/** Removes the row of a worker that ended in order. */
export async function deregisterWorker(db: Queryable, workerId: string, instance: string): Promise<void> {
  await db.query(DEREGISTER, [workerId, instance]);
}

const PRUNE = `
delete from wfg_workers
where last_heartbeat < wfg_now() - make_interval(hours => $1::int)
returning worker_id`;

/** Removes workers that fell silent long ago; returns their ids. */
export async function pruneWorkers(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ worker_id: string }>(PRUNE, [PRUNE_AFTER_HOURS]);
  return rows.map((row) => row.worker_id);
}

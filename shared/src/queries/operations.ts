// Operations: a requeue of all dead letters that a filter meets. Any number of schedulers may work on one, batch by batch;
// what is done leaves the set that the filter meets, so one that was left in the middle is simply gone on with.
import type { Operation, RequeueFilter } from '../contract/operation.ts';
import { toStorableJson, toStorableText } from '../contract/json.ts';
import type { Queryable } from '../db/pool.ts';
import { isoTime } from './job-row.ts';

/**
 * As SQL: the dead letter `j` is meant by the operation `o`, which was asked for after it died: one that is requeued and
 * fails again is not requeued again. In the order of the index wfg_jobs_dead.
 */
const MEANT = `j.position = 0 and j.state = 'failed' and j.kind = 'event' and j.finished_at <= o.created_at
    and (o.filter ->> 'workflow_type' is null or j.workflow_type = o.filter ->> 'workflow_type')
    and (o.filter ->> 'before' is null or j.finished_at < (o.filter ->> 'before')::timestamptz)
    and (o.filter ->> 'error_contains' is null or position(o.filter ->> 'error_contains' in j.error) > 0)`;

const REQUEST = `
with o as (
  select wfg_uuid7() as id, $1::json as filter, wfg_now() as created_at
), made as (
  insert into wfg_operations (id, kind, filter, created_at, total)
  select o.id, 'requeue', o.filter, o.created_at, (select count(*) from wfg_jobs j where ${MEANT}) from o
  returning id
)
insert into wfg_audit (actor, action, operation_id, detail) select $2::text, 'requeue all', o.id, o.filter from o join made using (id)
returning operation_id as id`;

/** Notes what is to be requeued, and who asked for it; returns the operation's id. */
export async function requestRequeue(db: Queryable, filter: RequeueFilter, actor: string): Promise<string> {
  const { rows } = await db.query<{ id: string }>(REQUEST, [toStorableJson(filter), toStorableText(actor)]);
  const [row] = rows;
  if (!row) throw new Error('the insert of an operation returned no row');
  return row.id;
}

const READ = `
select id as operation_id, total, done, created_at, finished_at from wfg_operations where id = $1::uuid`;

/** How far an operation is; null when there is none. */
export async function readOperation(db: Queryable, id: string): Promise<Operation | null> {
  type Row = Omit<Operation, 'created_at' | 'finished_at'> & { created_at: Date; finished_at: Date | null };
  const { rows } = await db.query<Row>(READ, [id]);
  const [row] = rows;
  return row ? { ...row, created_at: isoTime(row.created_at), finished_at: isoTime(row.finished_at) } : null;
}

const OPEN = `select id from wfg_operations where finished_at is null order by id`;

/** The operations in which something is left to do. */
export async function findOpenOperations(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(OPEN);
  return rows.map((row) => row.id);
}

// What somebody else holds is passed over, and found by a later pass.
const REQUEUE = `
with found as (
  select j.run_id from wfg_operations o join wfg_jobs j on ${MEANT}
  where o.id = $1::uuid and j.run_id < $2::uuid
  order by j.run_id desc limit $3::int
  for update of j skip locked
), revived as (
  select run_id, wfg_revive(run_id)::text as lane from found
), noted as (
  insert into wfg_audit (actor, action, operation_id, run_id)
  select 'operation', 'requeue', $1::uuid, run_id from revived where lane is not null
), counted as (
  update wfg_operations set done = done + (select count(lane) from revived) where id = $1::uuid
)
select (select min(run_id::text) from found) as last, (select count(*)::int from found) as found, coalesce((
    select json_object_agg(lane, count)
    from (select lane, count(*)::int from revived where lane is not null group by lane) by_lane
  ), '{}') as lanes`;

export interface Requeued {
  /** The last one looked at: the next batch begins behind it. Null: there were none. */
  last: string | null;
  found: number;
  /** How many became pending, by lane. */
  lanes: Record<string, number>;
}

/** Requeues the next `limit` dead letters of an operation, from behind `after`. */
export async function requeueBatch(
  db: Queryable,
  operation: string,
  after: string,
  limit: number,
): Promise<Requeued> {
  const { rows } = await db.query<Requeued>(REQUEUE, [operation, after, limit]);
  return rows[0] ?? { last: null, found: 0, lanes: {} };
}

const FINISH = `
update wfg_operations o set finished_at = wfg_now()
where o.id = $1::uuid and o.finished_at is null and not exists (select from wfg_jobs j where ${MEANT})`;

/** Ends an operation in which nothing is left to do. */
export async function finishOperation(db: Queryable, id: string): Promise<void> {
  await db.query(FINISH, [id]);
}

const PRUNE = `
with old as (
  select id from wfg_audit where at < wfg_now() - make_interval(days => $1::int) order by at limit $2::int
), gone as (
  delete from wfg_operations where finished_at < wfg_now() - make_interval(days => $1::int)
)
delete from wfg_audit a using old where a.id = old.id`;

/** Removes up to `limit` notes older than so many days, and operations that ended before; returns how many notes. */
export async function pruneAudit(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(PRUNE, [days, limit]);
  return rowCount ?? 0;
}

// Definitions: storing them, with the schedules that they ask for, and removing them.
import { toStorableJson, toStorableText } from '../contract/json.ts';
import type { Definition } from '../contract/definition.ts';
import type { Queryable } from '../db/pool.ts';
import { storeDefinedSchedules } from './defined-schedules.ts';

// Where the definition came from a file, that file's hash stays: the file wins again only when it changes.
const PUT = `
insert into wfg_workflows (id, name, trigger, definition, source)
values ($1::text, $2::text, $3::text, $4::json, 'api')
on conflict (id) do update
set name = excluded.name, trigger = excluded.trigger, definition = excluded.definition, updated_at = wfg_now()
returning xmax = 0 as created`;

/** Creates or replaces the definition; true when there was none. Needs a transaction. */
export async function putWorkflow(tx: Queryable, id: string, definition: Definition): Promise<boolean> {
  const { rows } = await tx.query<{ created: boolean }>(PUT, columns(id, definition));
  await storeDefinedSchedules(tx, id, definition.schedules);
  return rows[0]?.created === true;
}

const LOAD = `
insert into wfg_workflows as w (id, name, trigger, definition, source, file_hash)
values ($1::text, $2::text, $3::text, $4::json, 'file', $5::text)
on conflict (id) do update
set name = excluded.name, trigger = excluded.trigger, definition = excluded.definition, updated_at = wfg_now(),
    source = 'file', file_hash = excluded.file_hash
where w.file_hash is distinct from excluded.file_hash`;

/** Stores a file's definition unless this very text was before; true when it was stored now. Needs a transaction. */
export async function loadWorkflow(
  tx: Queryable,
  id: string,
  definition: Definition,
  fileHash: string,
): Promise<boolean> {
  const { rowCount } = await tx.query(LOAD, [...columns(id, definition), fileHash]);
  if (rowCount !== 1) return false;
  await storeDefinedSchedules(tx, id, definition.schedules);
  return true;
}

const FIRST = `
insert into wfg_workflows (id, name, trigger, definition, source)
select $1::text, $2::text, $3::text, $4::json, 'api' where not exists (select from wfg_workflows)
on conflict do nothing`;

/** Stores the definition, which has no schedules, if there is no other at all; true when it was stored. */
export async function putFirstWorkflow(db: Queryable, id: string, definition: Definition): Promise<boolean> {
  const { rowCount } = await db.query(FIRST, columns(id, definition));
  return rowCount === 1;
}

/** Removes the definition and its schedules; its runs stay. False when there is none. */
export async function deleteWorkflow(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from wfg_workflows where id = $1::text', [id]);
  return rowCount === 1;
}

/** Whether there is such a workflow. */
export async function hasWorkflow(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query('select from wfg_workflows where id = $1::text', [id]);
  return rowCount === 1;
}

function columns(id: string, definition: Definition): string[] {
  const { name, trigger } = definition;
  return [id, toStorableText(name), toStorableText(trigger), toStorableJson(definition)];
}

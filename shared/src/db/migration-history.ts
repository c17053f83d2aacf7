// What a database has been through, and what that means for the migrations we know.

import type { ClientBase, Pool } from 'pg';
import type { Migration } from './migration-files.ts';

/** The schema and these files do not belong together: waiting does not help. */
export class SchemaError extends Error {}

interface Applied {
  name: string;
  sha256: string;
  breaking: boolean;
}

// Not to_regclass: in a transaction it may go on answering "no" of a table that another one has committed meanwhile, since
// it looks into the connection's cache of names, and whoever waited for the lock would apply what is there already.
const FIND = `
select current_schema() as schema, exists (
    select from pg_catalog.pg_class
    where relname = 'wfg_migrations'
      and relnamespace = (select oid from pg_catalog.pg_namespace where nspname = current_schema())
  ) as present`;

/** What was applied in the schema that search_path names first; nothing in an empty database. */
export async function readHistory(db: Pool | ClientBase): Promise<Applied[]> {
  const found = await db.query<{ schema: string | null; present: boolean }>(FIND);
  const { schema, present } = found.rows[0] ?? {};
  if (!schema) throw new SchemaError('no schema named in search_path exists: create it first');
  if (!present) return [];
  const history = await db.query<Applied>('select name, sha256, breaking from wfg_migrations order by name');
  return history.rows;
}

/**
 * The migrations still to be applied, in order. Throws SchemaError when an applied file was edited or
 * overtaken, or when a newer wfg has changed the schema in a way that this one cannot work with.
 */
export function pendingMigrations(known: Migration[], history: Applied[]): Migration[] {
  const applied = new Map(history.map((row) => [row.name, row]));
  const last = history.at(-1)?.name ?? '';
  for (const { name, sha256 } of known) {
    const before = applied.get(name);
    if (before && before.sha256 !== sha256) {
      throw new SchemaError(
        `migration ${name} was edited after it was applied: restore it, and put the change in a new file`,
      );
    }
    if (!before && name < last) {
      throw new SchemaError(`migration ${name} comes before ${last}, which is applied: give it a new number`);
    }
  }
  const names = new Set(known.map(({ name }) => name));
  const breaking = history.find((row) => row.breaking && !names.has(row.name));
  if (breaking) {
    throw new SchemaError(
      `the database is newer than this wfg (${breaking.name} broke with it): deploy the newer wfg`,
    );
  }
  return known.filter(({ name }) => !applied.has(name));
}

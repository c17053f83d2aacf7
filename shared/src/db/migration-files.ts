// Reads the numbered SQL files that make the schema.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

export interface Migration {
  /** File name: four digits say the order. */
  name: string;
  sql: string;
  sha256: string;
  /** False with the header `-- no-transaction`: its statements run one by one, and must bear to run again. */
  transactional: boolean;
  /** True with the header `-- breaking`: services that do not know this migration refuse to start. */
  breaking: boolean;
}

export const MIGRATIONS = fileURLToPath(new URL('../../../migrations/', import.meta.url));

/** The result of all migrations, for reading; never run. */
const RESULT = 'schema.sql';

/** All migrations of the folder in their order. Throws when a file's name or number does not fit. */
export async function readMigrations(folder = MIGRATIONS): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql') && name !== RESULT).sort();
  const migrations: Migration[] = [];
  for (const name of names) {
    if (!/^\d{4}-[a-z0-9-]+\.sql$/.test(name)) {
      throw new Error(`migration ${name}: the name must be four digits and words, like 0002-schedules.sql`);
    }
    const twin = migrations.at(-1);
    if (twin?.name.slice(0, 4) === name.slice(0, 4)) {
      throw new Error(`migrations ${twin.name} and ${name} have the same number: rename the newer one`);
    }
    migrations.push(toMigration(name, await readFile(join(folder, name), 'utf8')));
  }
  return migrations;
}

function toMigration(name: string, text: string): Migration {
  // A checkout with other line ends is no edit.
  const sql = text.replaceAll('\r\n', '\n');
  const headers = /^(?:--.*\n|\n)*/.exec(sql)?.[0].split('\n') ?? [];
  return {
    name,
    sql,
    sha256: createHash('sha256').update(sql).digest('hex'),
    transactional: !headers.includes('-- no-transaction'),
    breaking: headers.includes('-- breaking'),
  };
}

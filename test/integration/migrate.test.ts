// The migration runner: many at once, edited history, files outside a transaction, locks held by others.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertSchema } from '@wfg/shared/db/assert-schema';
import { migrate } from '@wfg/shared/db/migrate';
import { createPool } from '@wfg/shared/db/pool';
import { readMigrations } from '@wfg/shared/db/migration-files';
import { readHistory } from '@wfg/shared/db/migration-history';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asAdmin, databaseUrl, dropDatabase } from '../support/admin.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

const log = pino({ level: 'silent' });
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wfg-migrations-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(name: string, ...lines: string[]): Promise<void> {
  await writeFile(join(folder, name), `${lines.join('\n')}\n`);
}

test('twenty at once on an empty database apply each file once', async () => {
  await using database = await testDatabase({ empty: true });
  await write('0001-core.sql', '-- The beginning.', 'create table things (id int primary key);');
  await write(
    '0002-index.sql',
    '-- no-transaction',
    'drop index concurrently if exists things_again;',
    '',
    '-- The second; statement.',
    'create index concurrently things_again on things (id);',
  );
  await write(
    '0003-more.sql',
    'alter table things add column name text;',
    "insert into things values (1, 'a');",
  );

  const runs = await Promise.all(Array.from({ length: 20 }, () => migrate(database.url, log, folder)));

  expect(runs.flat().sort()).toEqual(['0001-core.sql', '0002-index.sql', '0003-more.sql']);
  const history = await database.pool.query('select name, breaking from wfg_migrations order by name');
  expect(history.rows).toEqual([
    { name: '0001-core.sql', breaking: false },
    { name: '0002-index.sql', breaking: false },
    { name: '0003-more.sql', breaking: false },
  ]);
  const index = await database.pool.query(
    `select indisvalid from pg_index where indexrelid = 'things_again'::regclass`,
  );
  expect(index.rows).toEqual([{ indisvalid: true }]);
});

test('twenty at once on an empty database apply all that there is once, each time', async () => {
  const names = (await readMigrations()).map(({ name }) => name);
  for (let round = 0; round < 2; round++) {
    await using database = await testDatabase({ empty: true });
    const runs = await Promise.all(Array.from({ length: 20 }, () => migrate(database.url, log)));
    expect(runs.flat().sort()).toEqual(names);
  }
});

test('what another transaction has applied meanwhile is seen inside a transaction that began before', async () => {
  await using database = await testDatabase({ empty: true });
  await write('0001-core.sql', 'create table things (id int primary key);');
  const client = await database.pool.connect();
  try {
    expect(await readHistory(client)).toEqual([]);
    await client.query('begin');
    await migrate(database.url, log, folder);
    expect(await readHistory(client)).toMatchObject([{ name: '0001-core.sql' }]);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('a file that fails leaves nothing behind, says where, and can be repaired', async () => {
  await using database = await testDatabase({ empty: true });
  await write('0001-core.sql', 'create table things (id int);', '', 'insert into nothing values (1);');
  await expect(migrate(database.url, log, folder)).rejects.toThrow(
    'migration 0001-core.sql, line 3: relation "nothing" does not exist',
  );
  await write('0001-core.sql', 'create table things (id int);');
  expect(await migrate(database.url, log, folder)).toEqual(['0001-core.sql']);
});

test('edited, overtaken and doubly numbered files are refused; other line ends are no edit', async () => {
  await using database = await testDatabase({ empty: true });
  await write('0001-core.sql', 'create table things (id int);');
  await write('0003-more.sql', 'create table more (id int);');
  await migrate(database.url, log, folder);

  await write('0001-core.sql', 'create table things (id int);\r');
  expect(await migrate(database.url, log, folder)).toEqual([]);

  await write('0001-core.sql', 'create table things (id bigint);');
  await expect(migrate(database.url, log, folder)).rejects.toThrow(
    '0001-core.sql was edited after it was applied',
  );
  await expect(assertSchema(database.pool, { folder })).rejects.toThrow('0001-core.sql was edited');

  await write('0001-core.sql', 'create table things (id int);');
  await write('0002-late.sql', 'select 1;');
  await expect(migrate(database.url, log, folder)).rejects.toThrow(
    '0002-late.sql comes before 0003-more.sql',
  );

  await rm(join(folder, '0002-late.sql'));
  await write('0003-other.sql', 'select 1;');
  await expect(migrate(database.url, log, folder)).rejects.toThrow('have the same number');
});

test('a service waits for a schema that is too old, and refuses one that a newer wfg broke', async () => {
  await using database = await testDatabase({ empty: true });
  await write('0001-core.sql', 'create table things (id int);');
  await expect(assertSchema(database.pool, { folder, waitMs: 0 })).rejects.toThrow(
    'the database schema is too old (0001-core.sql is missing): run wfg migrate',
  );
  const waiting = assertSchema(database.pool, { folder });
  await migrate(database.url, log, folder);
  await waiting;

  await write('0002-added.sql', 'create table more (id int);');
  await migrate(database.url, log, folder);
  await rm(join(folder, '0002-added.sql'));
  await assertSchema(database.pool, { folder });

  await write('0002-added.sql', 'create table more (id int);');
  await write('0003-gone.sql', '-- Old services read it.', '-- breaking', 'drop table things;');
  await migrate(database.url, log, folder);
  await assertSchema(database.pool, { folder });
  await rm(join(folder, '0003-gone.sql'));
  await expect(assertSchema(database.pool, { folder })).rejects.toThrow('0003-gone.sql');
  await expect(migrate(database.url, log, folder)).rejects.toThrow('deploy the newer wfg');
});

test('a service waits a while for a database that somebody is about to make, and says so', async () => {
  await using database = await testDatabase({ empty: true });
  const name = `${new URL(database.url).pathname.slice(1)}_later`;
  const url = databaseUrl(database.url, name);
  const pool = createPool({ url, name: 'test', log });
  await write('0001-core.sql', 'create table things (id int);');
  const said = new Set<string>();
  const waiting = assertSchema(pool, { folder, onWait: (why) => said.add(why) });
  await waitFor('it to say so', () =>
    said.has(`database "${name}" does not exist (create it, or check DATABASE_URL)`),
  );
  await asAdmin(database.url, (admin) => admin.query(`create database ${name}`));
  try {
    await migrate(url, log, folder);
    await waiting;
    await expect(pool.query('table things')).resolves.toMatchObject({ rowCount: 0 });
  } finally {
    await pool.end();
    await asAdmin(database.url, (admin) => dropDatabase(admin, name));
  }
});

test('a lock that another transaction holds is waited for without giving up', async () => {
  await using database = await testDatabase({ empty: true });
  await write('0001-core.sql', 'create table things (id int);');
  await migrate(database.url, log, folder);
  await write('0002-more.sql', 'alter table things add column name text;');

  const holder = await database.pool.connect();
  await holder.query('begin; lock table things in access exclusive mode');
  const refused = Promise.withResolvers<void>();
  const heard = pino(
    { level: 'info' },
    { write: (line) => void (line.includes('waiting') && refused.resolve()) },
  );
  const migrated = migrate(database.url, heard, folder);
  await refused.promise;
  await holder.query('commit');
  holder.release();
  expect(await migrated).toEqual(['0002-more.sql']);
});

test('the schema is the first one of search_path', async () => {
  await using database = await testDatabase({ empty: true });
  await database.pool.query('create schema tenant');
  const url = new URL(database.url);
  url.searchParams.set('options', '-c search_path=tenant,public');
  await write('0001-core.sql', 'create table things (id int);');
  await migrate(database.url, log, folder);
  expect(await migrate(url.href, log, folder)).toEqual(['0001-core.sql']);
  const found = await database.pool.query(
    `select relnamespace::regnamespace::text as schema from pg_class where relname = 'things' order by 1`,
  );
  expect(found.rows).toEqual([{ schema: 'public' }, { schema: 'tenant' }]);
});

test('a server or database that is not there is one clear line, with what to do', async () => {
  await using database = await testDatabase();
  await expect(migrate('postgres://nobody@127.0.0.1:1/none', log, folder)).rejects.toThrow(
    /^cannot reach the database: connect ECONNREFUSED 127\.0\.0\.1:1 \(check that it runs, and DATABASE_URL\)$/,
  );
  const url = new URL(database.url);
  url.pathname = '/not-there';
  await expect(migrate(url.href, log, folder)).rejects.toThrow(
    'cannot reach the database: database "not-there" does not exist (create it, or check DATABASE_URL)',
  );
});

// migrations/schema.sql shows what the migrations make.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dumpSchema } from '@wfg/shared/db/dump-schema';
import { MIGRATIONS } from '@wfg/shared/db/migration-files';
import { expect, test } from 'vitest';
import { testDatabase } from '../support/postgres.ts';

test('schema.sql is up to date: if not, run npm run schema:dump and commit it', async () => {
  await using database = await testDatabase();
  const written = await readFile(join(MIGRATIONS, 'schema.sql'), 'utf8');
  expect(await dumpSchema(database.pool)).toBe(written);
});

test('objects of all kinds are shown, but no partitions', async () => {
  await using database = await testDatabase({ empty: true });
  await database.pool.query(`
    create table parent (day date not null, id int generated always as identity, primary key (day, id))
      partition by range (day);
    create table parent_20260101 partition of parent for values from ('2026-01-01') to ('2026-01-02');
    create table "Odd name" (a text default 'x.y' check (a <> ''), b int[] not null) with (fillfactor = 80);
    create index on "Odd name" (lower(a)) where a is not null;
    comment on table "Odd name" is 'it''s odd';
    comment on column "Odd name".b is 'many';
    create view seen as
      select o.a, 'o.a' as text from "Odd name" o where exists (select from parent p where p.id = o.b[1]);
    create function nothing() returns trigger language plpgsql as 'begin return null; end';
    create trigger hidden instead of delete on seen for each row execute function nothing();
    create type colour as enum ('red');
    create sequence loose;
  `);
  expect(await dumpSchema(database.pool)).toMatchInlineSnapshot(`
    "-- Written by npm run schema:dump; never run, never edited.

    CREATE OR REPLACE FUNCTION nothing()
     RETURNS trigger
     LANGUAGE plpgsql
    AS $function$begin return null; end$function$;

    create table "Odd name" (
      a text default 'x.y'::text,
      b integer[] not null,
      constraint "Odd name_a_check" CHECK (a <> ''::text)
    ) with (
      fillfactor=80
    );
    CREATE INDEX "Odd name_lower_idx" ON "Odd name" USING btree (lower(a)) WHERE a IS NOT NULL;
    comment on column "Odd name".b is 'many';
    comment on table "Odd name" is 'it''s odd';

    create table parent (
      day date not null,
      id integer generated always as identity not null,
      constraint parent_pkey PRIMARY KEY (day, id)
    ) partition by RANGE (day);

    create view seen as
     SELECT a,
        'o.a'::text AS text
       FROM "Odd name" o
      WHERE (EXISTS ( SELECT
               FROM parent p
              WHERE id = b[1]));
    CREATE TRIGGER hidden INSTEAD OF DELETE ON seen FOR EACH ROW EXECUTE FUNCTION nothing();

    -- and the type colour

    -- and loose, of kind S
    "
  `);
});

test('wfg_history has the columns of wfg_jobs, in their order, behind its day', async () => {
  await using database = await testDatabase();
  const columns = async (table: string) => {
    const { rows } = await database.pool.query<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
      [table],
    );
    return rows;
  };
  expect(await columns('wfg_history')).toEqual([
    { name: 'moved_on', type: 'date' },
    ...(await columns('wfg_jobs')),
  ]);
});

test('a lane is a set of labels and a priority: neither order nor repetition matter', async () => {
  await using database = await testDatabase();
  const lane = async (labels: string[], priority = 0) => {
    const { rows } = await database.pool.query<{ lane: string }>('select wfg_lane($1, $2)::text as lane', [
      labels,
      priority,
    ]);
    return rows[0]?.lane;
  };
  expect(await lane([':command', '1gpu', 'b'])).toBe(await lane(['b', '1gpu', ':command', 'b']));
  expect(await lane([':command'])).toBe(await lane([':command', ':command']));
  expect(await lane([':command'])).not.toBe(await lane([':command'], 1));
  expect(await lane([':command'])).not.toBe(await lane([':command', 'a']));
});

test('keys made one after another grow', async () => {
  await using database = await testDatabase();
  const { rows } = await database.pool.query<{ id: string }>(
    'select wfg_uuid7()::text as id from generate_series(1, 2000) g, lateral (select pg_sleep(0.000005 * (g % 2))) s',
  );
  const ids = rows.map((row) => row.id);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(2000);
  const milliseconds = Number.parseInt(ids[0]?.replaceAll('-', '').slice(0, 12) ?? '', 16);
  expect(Math.abs(milliseconds - Date.now())).toBeLessThan(60_000);
  expect(ids.map((id) => id.slice(0, 18))).toEqual(ids.map((id) => id.slice(0, 18)).toSorted());
});

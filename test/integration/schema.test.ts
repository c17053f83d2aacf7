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

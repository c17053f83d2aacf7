-- Partitions are looked for in the catalogue itself. to_regclass looks into the connection's cache of names, which a
-- transaction need not refresh: whoever waited here for another one could try to make what that one had made.
create or replace function wfg_ensure_partitions(first date, last date) returns int language plpgsql as $$
declare
  parent regclass; home oid; part text; day date; made int := 0;
begin
  perform pg_advisory_xact_lock(hashtext('wfg_ensure_partitions'));
  for day in select generate_series(first, last, interval '1 day')::date loop
    foreach parent in array array['wfg_history', 'wfg_attempts', 'wfg_logs']::regclass[] loop
      select c.relnamespace, c.relname || '_' || to_char(day, 'YYYYMMDD') into home, part
      from pg_catalog.pg_class c where c.oid = parent;
      continue when exists (
        select from pg_catalog.pg_class c where c.relnamespace = home and c.relname = part);
      execute format('create table %s.%I (like %s including defaults including constraints)', home::regnamespace, part, parent);
      execute format('alter table %s attach partition %s.%I for values from (%L) to (%L)', parent, home::regnamespace, part,
        day, day + 1);
      made := made + 1;
    end loop;
  end loop;
  return made;
end
$$;

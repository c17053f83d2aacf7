-- What is past its time is removed, a day at a time.

create index wfg_runs_ended on wfg_runs (finished_at) where finished_at is not null;

-- The day of a daily partition, by its name.
create function wfg_day_of(part regclass) returns date language sql stable as $$
  select to_date(right(c.relname, 8), 'YYYYMMDD') from pg_catalog.pg_class c where c.oid = part
$$;

-- Drops the oldest day before `kept_from` of wfg_history, wfg_attempts or wfg_logs, and returns it; null: there is none, or
-- somebody else drops one. A day of logs on which an attempt started that still runs is left: it writes there. All readers
-- and writers of the table wait while this waits for those who came before, so it gives up soon (SQLSTATE 55P03).
create function wfg_drop_day(parent regclass, kept_from date) returns date language plpgsql
set search_path from current set lock_timeout = '200ms' as $$
declare
  part regclass; dropped date;
begin
  if not pg_try_advisory_xact_lock(hashtext('wfg_drop_day')) then
    return null;
  end if;
  select i.inhrelid, wfg_day_of(i.inhrelid) into part, dropped from pg_catalog.pg_inherits i
  where i.inhparent = parent and wfg_day_of(i.inhrelid) < kept_from
    and (parent <> 'wfg_logs'::regclass or not exists (
      select from wfg_jobs j
      where j.state = 'active' and (j.started_at at time zone 'utc')::date = wfg_day_of(i.inhrelid)))
  order by 2 limit 1;
  if not found then
    return null;
  end if;
  execute format('drop table %s', part);
  -- Those of days before too: the reaper that sums tallies up may have put one back.
  if parent = 'wfg_history'::regclass then
    delete from wfg_event_tallies t where t.moved_on <= dropped;
  end if;
  return dropped;
end
$$;

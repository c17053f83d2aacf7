-- Schedules, and what became of each of their ticks.

-- What a schedule starts: a run of a stored workflow, or an event. The schedules that a definition asks for by its
-- `on.schedule` go with it (defined_by); those made by hand outlive the workflow, and say so when they cannot start it.
create table wfg_schedules (
  id text primary key check (id ~ '^[A-Za-z0-9_.-]{1,255}(:[0-9]{1,4})?$'),
  defined_by text references wfg_workflows (id) on delete cascade,
  cron text not null,
  timezone text not null,
  catch_up text not null check (catch_up in ('skip', 'last', 'all')),
  paused boolean not null default false,
  workflow_id text,
  env json,
  workflow_type text,
  payload json,
  max_attempts int check (max_attempts between 1 and 100),
  priority int check (priority between -100 and 100),
  next_at timestamptz,
  last_tick_at timestamptz,
  error text,
  created_at timestamptz not null default wfg_now(),
  updated_at timestamptz not null default wfg_now(),
  constraint starts_one_thing check ((workflow_id is null) <> (workflow_type is null)),
  constraint workflow_has_env check ((workflow_id is null) = (env is null)),
  constraint event_is_whole check (
    (workflow_type is null) = (payload is null)
    and (workflow_type is null) = (max_attempts is null)
    and (workflow_type is null) = (priority is null)),
  constraint paused_has_no_next check (not paused or next_at is null),
  constraint defined_has_number check ((defined_by is null) = (id !~ ':'))
);
comment on column wfg_schedules.defined_by is 'the workflow whose definition asks for it; null: made by hand';
comment on column wfg_schedules.next_at is 'the first tick not yet decided; null: paused, or it never comes';
comment on column wfg_schedules.last_tick_at is 'the last tick decided';
comment on column wfg_schedules.error is 'why the last tick started nothing; null when it did';
create index wfg_schedules_due on wfg_schedules (next_at) where next_at is not null;
create index wfg_schedules_newest on wfg_schedules (created_at desc, id);
create index wfg_schedules_of_definition on wfg_schedules (defined_by) where defined_by is not null;

-- The key is the fence: no tick is decided twice, whoever is late.
create table wfg_ticks (
  schedule_id text not null references wfg_schedules (id) on delete cascade,
  tick_at timestamptz not null,
  outcome text not null check (outcome in ('fired', 'missed', 'failed')),
  run_id uuid,
  error text,
  at timestamptz not null default wfg_now(),
  primary key (schedule_id, tick_at),
  constraint fired_has_run check ((outcome = 'fired') = (run_id is not null)),
  constraint failed_has_error check ((outcome = 'failed') = (error is not null))
);
comment on table wfg_ticks is 'fired: it started run_id; missed: nothing was started, it was too late; failed: it could not be';
comment on column wfg_ticks.at is 'when it was decided';
create index wfg_ticks_oldest on wfg_ticks (tick_at);

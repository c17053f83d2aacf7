-- Standalone events beside graphs; conditions and templates; deadlines of runs; what handlers declare.

-- A column added to wfg_jobs is added to wfg_history too, in the same order.
alter table wfg_jobs
  add column tolerates text not null default 'nothing' check (tolerates in ('nothing', 'failure', 'cancel')),
  add column out_of_time boolean not null default false,
  add column expires_secs int,
  add column resolved json;
alter table wfg_history
  add column tolerates text not null default 'nothing',
  add column out_of_time boolean not null default false,
  add column expires_secs int,
  add column resolved json;
comment on column wfg_jobs.condition is 'an expression that a scheduler judges when all parents have ended; null: released without';
comment on column wfg_jobs.tolerates is 'nothing: skipped as soon as an ancestor did not complete; failure: judged all the same; cancel: spared by a cancel of the run too';
comment on column wfg_jobs.out_of_time is 'it is asked to stop because its run''s time is over: it ends failed, not cancelled';
comment on column wfg_jobs.expires_secs is 'how long it may wait for its first attempt once it can be claimed; expires_at is made from it';
comment on column wfg_jobs.resolved is '{spec, payload} with the values of their expressions; null: they have none';

alter table wfg_runs
  add column deadline_at timestamptz,
  add column timed_out_at timestamptz;
comment on column wfg_runs.timed_out_at is 'when the deadline was found to have passed: what waited is cancelled, what runs is stopped';
create index wfg_runs_deadline on wfg_runs (deadline_at) where state = 'open' and timed_out_at is null;

-- Standalone jobs, the newest first, beside any number of graph jobs; dead letters among any number of others.
create index wfg_jobs_standalone on wfg_jobs (run_id) where position = 0;
create index wfg_jobs_dead on wfg_jobs (run_id) where position = 0 and state = 'failed';
create index wfg_history_standalone on wfg_history (run_id) where position = 0;
create index wfg_history_of_type on wfg_history (workflow_type, run_id) where position = 0;

-- What the loaded handlers of a type declare, so that every process knows it. The last one that was loaded wins.
create table wfg_handlers (
  workflow_type text primary key,
  backoff json,
  timeout_secs int check (timeout_secs > 0),
  declared_at timestamptz not null default wfg_now()
);

-- How many events moved to history, by day and end: each statement that moves some adds a row, the reaper sums them
-- up. So counting never reads history, and no two statements wait for each other's counter.
create table wfg_event_tallies (
  moved_on date not null,
  state text not null check (state in ('completed', 'failed', 'cancelled')),
  events bigint not null,
  busy_ms bigint not null
);
comment on column wfg_event_tallies.busy_ms is 'what their last attempts took together';

-- The live events as the reaper counted them last; used when they are too many to be counted for each reader.
create table wfg_event_counts (
  one boolean primary key default true check (one),
  counted_at timestamptz not null,
  pending bigint not null,
  processing bigint not null,
  failed bigint not null,
  dead_lettered bigint not null
);

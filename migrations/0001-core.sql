-- wfg's core: definitions, runs, jobs (live and history), attempts, logs, workers.
--
-- A job is one row. Its key is (run_id, position): jobs of a graph count from 1 in file order; position 0 is a
-- standalone job, which is a run of its own and has no row in wfg_runs. While a run goes on its jobs stand in
-- wfg_jobs; when it has ended they move, in the transaction that ends it, to wfg_history (same columns).
-- Lock order everywhere: runs by id, then jobs by key, then the rest; never a run after a job.

-- The only clock of leases, delays, schedules and ages. Inlined into plans; tests replace it to move time.
create function wfg_now() returns timestamptz language sql stable parallel safe as 'select now()';

-- UUID version 7 (RFC 9562, 5.7 and 6.2 method 3): 48 bits of Unix milliseconds, the version, 12 bits of what is left of
-- the millisecond, then the variant and random bits of a version 4. Keys grow with time, to a quarter of a microsecond.
create function wfg_uuid7() returns uuid language sql volatile parallel safe as $$
  select encode(
    int8send((((t.us / 1000) << 16) | (7 << 12) | ((t.us % 1000) * 4096 / 1000))) || substring(uuid_send(gen_random_uuid()) from 9),
    'hex')::uuid
  from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as us) t
$$;

-- A lane is one (set of required labels, priority). Its name is a hash of both, computed from the row, so that an
-- enqueue never has to insert or lock a row that another enqueue needs. A set has no order: labels are hashed sorted.
create function wfg_lane(labels text[], priority int) returns bigint language sql immutable parallel safe as $$
  select hashtextextended(case when cardinality(labels) = 1 then labels[1] else (
    select string_agg(label, E'\n' order by label collate "C") from (select distinct unnest(labels)) as l (label)
  ) end || E'\n' || priority, 0)
$$;

-- The wait before retry n (n from 1): None, Fixed, or Exponential min(base * 2^(n-1), max), each with an optional
-- jitter 0..1 that adds up to that share of the wait.
create function wfg_backoff(backoff json, n int) returns interval language sql volatile parallel safe as $$
  select make_interval(secs => wait.secs * (1 + random() * coalesce(wait.jitter, 0)))
  from (
    select case
        when backoff -> 'Fixed' is not null then (backoff #>> '{Fixed,delay_secs}')::float8
        when backoff -> 'Exponential' is not null then least(
          (backoff #>> '{Exponential,base_secs}')::float8 * 2 ^ least(greatest(n - 1, 0), 60),
          (backoff #>> '{Exponential,max_secs}')::float8)
        else 0 end as secs,
      coalesce(backoff #>> '{Fixed,jitter}', backoff #>> '{Exponential,jitter}')::float8 as jitter
  ) wait
$$;

-- Definitions. Runs refer to them by id without a foreign key: a removed definition leaves its runs.
create table wfg_workflows (
  id text primary key check (id ~ '^[A-Za-z0-9_.-]{1,255}$'),
  name text not null,
  trigger text not null,
  definition json not null,
  source text not null check (source in ('api', 'file')),
  file_hash text check ((file_hash is not null) = (source = 'file')),
  created_at timestamptz not null default wfg_now(),
  updated_at timestamptz not null default wfg_now()
);
create index wfg_workflows_newest on wfg_workflows (created_at desc, id);

-- The last number given to a run of each workflow; outlives the definition, so that numbers never repeat.
create table wfg_run_numbers (
  workflow_id text primary key,
  last bigint not null
);

-- One execution of a graph. The row says only open, cancel asked for, or how it ended: no worker writes it, and what
-- an open run is doing is read from its jobs.
create table wfg_runs (
  id uuid primary key default wfg_uuid7(),
  number bigint,
  created_at timestamptz not null default wfg_now(),
  started_at timestamptz,
  finished_at timestamptz,
  cancel_requested_at timestamptz,
  rerun_of uuid,
  version int not null default 1,
  open_jobs int not null check (open_jobs >= 0),
  settled boolean not null default false,
  cancel_force boolean not null default false,
  state text not null default 'open' check (state in ('open', 'completed', 'failed', 'cancelled')),
  workflow_id text,
  name text not null,
  trigger text not null default '',
  error text,
  env json not null default '{}',
  constraint ended_has_time check ((state = 'open') = (finished_at is null))
);
comment on column wfg_runs.version is 'a run''s rev: while open its jobs'' versions are added; when it ends they are counted in';
comment on column wfg_runs.open_jobs is 'jobs that have not ended and been settled; at 0 the run ends';
comment on column wfg_runs.settled is 'false: a scheduler must look (new, or a cancel was asked for)';
create index wfg_runs_of_workflow on wfg_runs (workflow_id, id);
create index wfg_runs_unsettled on wfg_runs (id) where not settled;
create index wfg_runs_by_state on wfg_runs (state, id);
create index wfg_runs_open on wfg_runs (workflow_id, id) where state = 'open';

create table wfg_jobs (
  run_id uuid not null,
  position int not null check (position >= 0),
  version int not null default 1,
  lane bigint generated always as (wfg_lane(required_labels, priority)) stored,
  run_at timestamptz not null default wfg_now(),
  created_at timestamptz not null default wfg_now(),
  updated_at timestamptz not null default wfg_now(),
  begun_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  lease_expires_at timestamptz,
  cancel_requested_at timestamptz,
  expires_at timestamptz,
  nonce bigint,
  log_lines bigint,
  log_bytes bigint,
  log_chunks int,
  exit_code int,
  lease_secs int,
  timeout_secs int,
  attempt int not null default -1 check (attempt >= -1),
  tries int not null default 0 check (tries between 0 and attempt + 1),
  losses int not null default 0,
  max_attempts int not null default 1 check (max_attempts >= 1),
  priority int not null default 0 check (priority between -100 and 100),
  blocked_on int not null default 0 check (blocked_on >= 0),
  settled boolean not null default true,
  upstream_ok boolean not null default true,
  upstream_failed boolean not null default false,
  state text not null
    check (state in ('blocked', 'pending', 'active', 'completed', 'failed', 'skipped', 'cancelled')),
  kind text not null check (kind in ('command', 'event', 'task')),
  outcome text check (outcome in ('completed', 'failed', 'timed_out', 'lost', 'handed_back', 'cancelled')),
  job_id text not null,
  name text not null,
  workflow_id text,
  workflow_type text,
  worker_id text,
  instance uuid,
  reused_from uuid,
  required_labels text[] not null check (cardinality(required_labels) > 0 and array_position(required_labels, null) is null),
  parents int[] not null default '{}',
  children int[] not null default '{}',
  condition text,
  error text,
  backoff json,
  spec json,
  payload json,
  outputs json,
  metadata json,
  primary key (run_id, position),
  constraint active_has_lease check (
    (state = 'active') = (lease_expires_at is not null)
    and (state <> 'active' or (nonce is not null and started_at is not null and worker_id is not null))),
  constraint ended_has_time check (
    (state in ('completed', 'failed', 'skipped', 'cancelled')) = (finished_at is not null)),
  constraint only_ended_is_unsettled check (settled or (finished_at is not null and position > 0)),
  constraint only_graph_is_blocked check (position > 0 or state not in ('blocked', 'skipped')),
  constraint kind_has_type check ((kind = 'command') = (workflow_type is null))
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1
);
comment on table wfg_jobs is 'jobs of open runs, and standalone jobs until completed, cancelled or discarded';
comment on column wfg_jobs.lane is 'hash of (required_labels, priority): what a worker claims by';
comment on column wfg_jobs.version is 'grows with every transition, by as much as it has events to tell';
comment on column wfg_jobs.begun_at is 'when the first attempt started; started_at: the last one';
comment on column wfg_jobs.attempt is 'the last attempt begun, -1 before the first; never reused';
comment on column wfg_jobs.tries is 'attempts that count against max_attempts';
comment on column wfg_jobs.blocked_on is 'parents not yet settled';
comment on column wfg_jobs.settled is 'false: ended, and a scheduler has not yet told its children and its run';
comment on column wfg_jobs.upstream_ok is 'every settled ancestor completed';
comment on column wfg_jobs.upstream_failed is 'a settled ancestor failed';
comment on column wfg_jobs.required_labels is 'with the implied one: :command, :event <type>, :task <name>';
comment on column wfg_jobs.parents is 'positions of the jobs it depends on, as the user ordered them';
comment on column wfg_jobs.children is 'positions of the jobs that depend on it';
comment on column wfg_jobs.error is 'the last error, or why it was skipped; never cleared by success';
comment on column wfg_jobs.outcome is 'how the last attempt ended';

-- A job of a graph by its name, which is unique in its run; a standalone job is always called main.
create unique index wfg_jobs_by_name on wfg_jobs (run_id, job_id) where position > 0;
-- No index holds lease_expires_at: renewing a lease must stay a heap-only update.
create index wfg_jobs_claim on wfg_jobs (lane, run_at, run_id, position) where state = 'pending';
create index wfg_jobs_active on wfg_jobs (worker_id) where state = 'active';
create index wfg_jobs_unsettled on wfg_jobs (run_id) where not settled;
create index wfg_jobs_expiring on wfg_jobs (expires_at) where expires_at is not null and state in ('blocked', 'pending');

-- Jobs that have ended for good, by the day they moved: a run ages as one. moved_on stands first so that a column
-- added to both tables later stays in the same order after it.
create table wfg_history (
  moved_on date not null,
  like wfg_jobs,
  primary key (run_id, position, moved_on)
) partition by range (moved_on);

-- Attempts that were not the job's last; the last one is told by the job's own row.
create table wfg_attempts (
  ended_on date not null,
  run_id uuid not null,
  position int not null,
  attempt int not null,
  try int not null,
  exit_code int,
  log_chunks int not null,
  log_lines bigint not null,
  log_bytes bigint not null,
  nonce bigint not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  outcome text not null check (outcome in ('completed', 'failed', 'timed_out', 'lost', 'handed_back', 'cancelled')),
  worker_id text not null,
  error text,
  primary key (run_id, position, attempt, ended_on)
) partition by range (ended_on);

-- Output of commands and handlers. day is the day the attempt started; line is the number of the chunk's first line;
-- lines and bytes count the attempt up to the chunk's end, so that the last row can seal a lost attempt.
create table wfg_logs (
  day date not null,
  run_id uuid not null,
  position int not null,
  attempt int not null,
  sequence int not null check (sequence >= 0),
  line bigint not null,
  lines bigint not null,
  bytes bigint not null,
  at timestamptz not null,
  stream text not null check (stream in ('stdout', 'stderr')),
  data text not null,
  primary key (day, run_id, position, attempt, sequence)
) partition by range (day);

create table wfg_workers (
  worker_id text primary key check (worker_id ~ '^[A-Za-z0-9_.:-]{1,255}$'),
  instance uuid,
  registered_at timestamptz not null default wfg_now(),
  last_heartbeat timestamptz not null default wfg_now(),
  concurrency int not null check (concurrency >= 1),
  draining boolean not null default false,
  labels text[] not null default '{}',
  handlers text[] not null default '{}',
  version text not null default '',
  host text not null default ''
);

-- Outputs by job, wherever the row stands.
create view wfg_artifacts as
  select run_id, workflow_id, job_id, outputs from wfg_jobs where state = 'completed'
  union all
  select run_id, workflow_id, job_id, outputs from wfg_history where state = 'completed';

-- Makes the daily partitions of history, attempts and logs for the days first..last where they are missing. Called
-- ahead of time by the reaper, and by a writer that met a missing one (SQLSTATE 23514). A partition is built apart
-- and attached, which does not block writers of the others; the advisory lock keeps two makers apart.
create function wfg_ensure_partitions(first date, last date) returns int language plpgsql as $$
declare
  parent text; part text; day date; made int := 0;
begin
  perform pg_advisory_xact_lock(hashtext('wfg_ensure_partitions'));
  for day in select generate_series(first, last, interval '1 day')::date loop
    foreach parent in array array['wfg_history', 'wfg_attempts', 'wfg_logs'] loop
      part := parent || '_' || to_char(day, 'YYYYMMDD');
      continue when to_regclass(part) is not null;
      execute format('create table %I (like %I including defaults including constraints)', part, parent);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, part, day, day + 1);
      made := made + 1;
    end loop;
  end loop;
  return made;
end
$$;

select wfg_ensure_partitions((wfg_now() at time zone 'utc')::date - 1, (wfg_now() at time zone 'utc')::date + 7);

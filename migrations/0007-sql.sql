-- Keys, by which something is made once however often it is asked for; what makes and changes things from SQL.

-- A key and what was made with it are written in one transaction. While that goes on, whoever comes with the same key
-- waits for it to end, and nobody else does.
create table wfg_keys (
  scope text not null,
  key text not null,
  body_hash bytea,
  subject text,
  status int,
  created_at timestamptz not null default wfg_now(),
  expires_at timestamptz not null,
  until_ended boolean not null default false,
  primary key (scope, key)
);
comment on column wfg_keys.scope is 'method and path of a route, the name of a SQL function, or `unique <workflow_type>`';
comment on column wfg_keys.body_hash is 'what was asked for; another body under the same key is refused';
comment on column wfg_keys.subject is 'what was made: a run, a workflow, a lease; null only inside the transaction that makes it';
comment on column wfg_keys.status is 'the first answer''s, over HTTP';
comment on column wfg_keys.until_ended is 'it holds as long as its standalone job is live; expires_at is when to see whether it is';
create index wfg_keys_expiring on wfg_keys (expires_at);

-- Whether a key still holds. Until it ended, a job is live: pending, active or a dead letter.
create function wfg_key_holds(held wfg_keys) returns boolean language plpgsql stable set search_path from current as $$
begin
  if not held.until_ended then return held.expires_at > wfg_now(); end if;
  return exists (select from wfg_jobs j where j.run_id = held.subject::uuid and j.position = 0);
end
$$;

-- Takes a key in the caller's transaction: null, or the one that holds already. The insert waits for a twin in flight;
-- what it left is then read by statements of their own, which see it. A key that does not hold any more is replaced, by
-- the first who finds it so.
create function wfg_take_key(scope text, key text, body_hash bytea, subject text,
  expires_at timestamptz default null, until_ended boolean default false)
returns wfg_keys language plpgsql set search_path from current as $$
#variable_conflict use_column
declare
  held wfg_keys;
begin
  loop
    insert into wfg_keys (scope, key, body_hash, subject, expires_at, until_ended)
    values ($1, $2, $3, $4, coalesce($5, wfg_now() + interval '7 days'), $6)
    on conflict do nothing;
    if found then return null; end if;
    select * into held from wfg_keys k where k.scope = $1 and k.key = $2;
    if found and wfg_key_holds(held) then return held; end if;
    delete from wfg_keys k where k.scope = $1 and k.key = $2 and k.subject is not distinct from held.subject;
  end loop;
end
$$;

-- Removes up to so many keys that do not hold any more; those that do are looked at again in a week. Returns how many
-- were looked at.
create function wfg_prune_keys(most int) returns int language sql set search_path from current as $$
  with old as (
    select k.scope, k.key, wfg_key_holds(k) as holds from wfg_keys k
    where k.expires_at <= wfg_now()
    order by k.expires_at
    limit most
    for update skip locked
  ), kept as (
    update wfg_keys k set expires_at = wfg_now() + interval '7 days'
    from old where k.scope = old.scope and k.key = old.key and old.holds
  ), gone as (
    delete from wfg_keys k using old where k.scope = old.scope and k.key = old.key and not old.holds
  )
  select count(*)::int from old
$$;

-- What PostgreSQL cannot read out of JSON again is made visible: NUL as U+2400, half a surrogate pair as U+FFFD. A
-- backslash that is written twice stands for itself, and is put aside meanwhile.
create function wfg_storable(value json) returns json language sql immutable parallel safe as $$
  select case when value::text !~ '\\u(0000|[dD][89a-fA-F])' then value else replace(
    regexp_replace(
      regexp_replace(
        replace(replace(value::text, '\\', chr(1)), '\u0000', chr(9216)),
        '\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})', chr(65533), 'g'),
      '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}', chr(65533), 'g'),
    chr(1), '\\')::json end
$$;

-- Whether a value is nested deeper than programs can read it: more than 1,000 levels. Few have so many brackets at all.
create function wfg_is_too_deep(value json) returns boolean language plpgsql immutable parallel safe as $$
begin
  return length(value::text) - length(translate(value::text, '[{', '')) > 1000
    and jsonb_path_exists(value::jsonb, 'strict $.**{1000}');
exception when statement_too_complex or data_exception then
  -- Nested deeper than PostgreSQL can go, or with numbers beyond anyone's range.
  return true;
end
$$;

-- Names of types, and keys.
create function wfg_is_printable(name text) returns boolean language sql immutable parallel safe as $$
  select char_length(name) between 1 and 255 and name !~ '[\u0001-\u001f\u007f-\u009f]'
$$;

-- A body's hash is that of its values: neither blanks nor the order of names count.
create function wfg_body_hash(body json) returns bytea language plpgsql immutable as $$
begin
  return sha256(convert_to(body::jsonb::text, 'UTF8'));
exception when data_exception then
  -- Some numbers can be written in json alone.
  return sha256(convert_to(body::text, 'UTF8'));
end
$$;

-- For a function that makes something under a key: null when it is to make it as `id`, else what was made.
create function wfg_once(function_name text, idempotency_key text, body json, id uuid) returns uuid
language plpgsql set search_path from current as $$
declare
  held wfg_keys; hash bytea;
begin
  if idempotency_key is null then return null; end if;
  if not wfg_is_printable(idempotency_key) then
    raise exception 'idempotency_key must be 1 to 255 printable characters' using errcode = 'WF001',
      hint = 'give a key of your own that is the same when the call is repeated, like order-4711';
  end if;
  hash := wfg_body_hash(body);
  held := wfg_take_key(function_name, idempotency_key, hash, id::text);
  if held.body_hash is distinct from hash and held.subject is not null then
    raise exception 'idempotency_key % was used with other arguments before', quote_literal(idempotency_key)
      using errcode = 'WF004', hint = 'repeat the call with the same arguments, or take a new key';
  end if;
  return held.subject::uuid;
end
$$;

-- Rung in the caller's transaction: the same text many times over is sent once.
create function wfg_ring_settle() returns void language sql volatile as $$
  select pg_notify('wfg_events', '{"v":1,"settle":true}')
$$;

-- Stores an event for the handler of its type. Nothing is locked but the key, so enqueues wait for no other.
create function wfg_enqueue(workflow_type text, payload json default '{}', max_attempts int default 3,
  run_at timestamptz default null, priority int default 0, idempotency_key text default null)
returns uuid language plpgsql set search_path from current as $$
declare
  made uuid := wfg_uuid7(); known uuid; lane bigint;
begin
  payload := coalesce(wfg_storable(payload), '{}');
  max_attempts := coalesce(max_attempts, 3);
  priority := coalesce(priority, 0);
  if workflow_type is null or not wfg_is_printable(workflow_type) then
    raise exception 'workflow_type must be 1 to 255 characters, none of them a control character'
      using errcode = 'WF001', hint = 'name the type of a handler, like user.created';
  elsif max_attempts not between 1 and 100 then
    raise exception 'max_attempts must be from 1 to 100, not %', max_attempts
      using errcode = 'WF001', hint = 'it counts all tries; leave it out for 3';
  elsif priority not between -100 and 100 then
    raise exception 'priority must be from -100 to 100, not %', priority
      using errcode = 'WF001', hint = 'larger goes first; leave it out for 0';
  elsif wfg_is_too_deep(payload) then
    raise exception 'payload is nested more than 1000 levels deep'
      using errcode = 'WF001', hint = 'make it flatter, or keep it in a table of yours and hand over its key';
  end if;
  perform wfg_check_time('run_at', run_at);
  known := wfg_once('wfg_enqueue', idempotency_key, json_build_object('workflow_type', workflow_type, 'payload', payload,
    'max_attempts', max_attempts, 'run_at', run_at at time zone 'utc', 'priority', priority), made);
  if known is not null then return known; end if;
  insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, payload,
    max_attempts, run_at, priority)
  values (made, 0, 'main', workflow_type, workflow_type, 'pending', 'event', array[':event ' || workflow_type], payload,
    max_attempts, coalesce(run_at, wfg_now()), priority)
  returning wfg_jobs.lane into lane;
  -- What is due later is rung for when it is.
  if run_at is null or run_at <= wfg_now() then perform wfg_ring_lane(lane); end if;
  return made;
end
$$;

-- Says why a job, of a run that may not even exist, is not what a function needs.
create function wfg_refuse(run uuid, job text, wanted text) returns void
language plpgsql stable set search_path from current as $$
declare
  its record;
begin
  if run is null or job is null then
    raise exception 'run, and job where there is one, must be given' using errcode = 'WF001',
      hint = 'give the id that wfg_enqueue, wfg_submit or wfg_run returned';
  end if;
  select j.state into its from (
    select state from wfg_jobs where run_id = run and job_id = job
    union all
    select state from wfg_history where run_id = run and job_id = job
  ) j limit 1;
  if found then
    raise exception 'job % of run % is %', quote_literal(job), run, its.state using errcode = 'WF003', hint = wanted;
  elsif exists (
    select from wfg_runs where id = run
    union all select from wfg_jobs where run_id = run
    union all select from wfg_history where run_id = run
  ) then
    raise exception 'run % has no job %', run, quote_literal(job) using errcode = 'WF002',
      hint = 'the only job of an event or a task is called main';
  end if;
  raise exception 'there is no run %', run using errcode = 'WF002',
    hint = 'give the id that wfg_enqueue, wfg_submit or wfg_run returned';
end
$$;

-- Cancels one job: one that waits ends at once, one that runs is asked to stop. What needs it is the scheduler's.
create function wfg_cancel(run uuid, job text) returns void language plpgsql set search_path from current as $$
declare
  its record;
begin
  perform from wfg_runs r where r.id = run for update;
  select j.state, j.position, j.cancel_requested_at into its
  from wfg_jobs j where j.run_id = run and j.job_id = job for update;
  if not found or its.state in ('completed', 'failed', 'skipped') then
    if exists (select from wfg_history h where h.run_id = run and h.job_id = job and h.state = 'cancelled') then return; end if;
    perform wfg_refuse(run, job, 'only what waits or runs is cancelled');
  elsif its.state = 'active' then
    if its.cancel_requested_at is not null then return; end if;
    update wfg_jobs j set cancel_requested_at = wfg_now(), version = j.version + 1, updated_at = wfg_now()
    where j.run_id = run and j.position = its.position;
    perform pg_notify('wfg_events', format('{"v":1,"cancel":["%s"]}', run));
  elsif its.state <> 'cancelled' then
    update wfg_jobs j
    set state = 'cancelled', cancel_requested_at = coalesce(j.cancel_requested_at, wfg_now()), finished_at = wfg_now(),
      settled = j.position = 0, version = j.version + 1, updated_at = wfg_now()
    where j.run_id = run and j.position = its.position;
    if its.position = 0 then perform wfg_leave(run); else perform wfg_ring_settle(); end if;
  end if;
end
$$;

-- Cancels a run; its jobs, but for those whose `if` calls always() or cancelled(), are the scheduler's.
create function wfg_cancel(run uuid) returns void language plpgsql set search_path from current as $$
declare
  its record;
begin
  select r.state, r.cancel_requested_at into its from wfg_runs r where r.id = run for update;
  if not found then
    perform wfg_cancel(run, 'main');
  elsif its.state = 'open' then
    if its.cancel_requested_at is not null then return; end if;
    update wfg_runs r set cancel_requested_at = wfg_now(), settled = false, version = r.version + 1 where r.id = run;
    perform wfg_ring_settle();
  elsif its.state <> 'cancelled' then
    raise exception 'run % has ended already: it %', run, its.state using errcode = 'WF003',
      hint = 'only a run that goes on is cancelled';
  end if;
end
$$;

-- Makes a dead letter pending again, with all its tries.
create function wfg_requeue(run uuid, job text) returns void language plpgsql set search_path from current as $$
declare
  lane bigint; fault text;
begin
  if job = 'main' and not exists (select from wfg_runs r where r.id = run) then
    lane := wfg_revive(run);
    select j.error into fault from wfg_jobs j where j.run_id = run and j.position = 0 and j.state = 'failed';
    if found then
      raise exception 'task % cannot go on: %', run, fault using errcode = 'WF003',
        hint = format('edit its step: update pg_task set step = …, error = null where id = %L', run);
    end if;
  end if;
  if lane is null then
    perform wfg_refuse(run, job, 'only an event or a task that failed is requeued; a workflow is run again by wfg_run or wfg_submit');
  end if;
  perform wfg_ring_lane(lane);
end
$$;

create function wfg_requeue(run uuid) returns void language plpgsql set search_path from current as $$
begin
  if exists (select from wfg_runs r where r.id = run) then
    raise exception 'run % is one of a workflow, and only an event or a task is requeued', run using errcode = 'WF003',
      hint = 'run it again by wfg_run or wfg_submit';
  end if;
  perform wfg_requeue(run, 'main');
end
$$;

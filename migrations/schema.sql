-- Written by npm run schema:dump; never run, never edited.

CREATE OR REPLACE FUNCTION wfg_backoff(backoff json, n integer)
 RETURNS interval
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION wfg_body_hash(body json)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return sha256(convert_to(body::jsonb::text, 'UTF8'));
exception when data_exception then
  -- Some numbers can be written in json alone.
  return sha256(convert_to(body::text, 'UTF8'));
end
$function$;

CREATE OR REPLACE FUNCTION wfg_cancel_job(run uuid, job text)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  its record;
begin
  perform from wfg_runs r where r.id = run for update;
  select j.state, j.position into its from wfg_jobs j where j.run_id = run and j.job_id = job for update;
  if its.state = 'active' then
    update wfg_jobs j set cancel_requested_at = wfg_now(), version = j.version + 1, updated_at = wfg_now()
    where j.run_id = run and j.position = its.position and j.cancel_requested_at is null;
    return 'active';
  elsif its.state in ('blocked', 'pending') then
    update wfg_jobs j
    set state = 'cancelled', cancel_requested_at = coalesce(j.cancel_requested_at, wfg_now()), finished_at = wfg_now(),
      settled = j.position = 0, version = j.version + 1, updated_at = wfg_now()
    where j.run_id = run and j.position = its.position;
    if its.position = 0 then perform wfg_leave(run); end if;
    return 'cancelled';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_cancel(run uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION wfg_cancel(run uuid, job text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  state text := wfg_cancel_job(run, job);
begin
  if state = 'active' then
    perform pg_notify('wfg_events', format('{"v":1,"cancel":["%s"]}', run));
    perform wfg_ring_run(run);
  elsif state = 'cancelled' and exists (select from wfg_runs r where r.id = run) then
    perform wfg_ring_settle();
  elsif state = 'cancelled' then
    perform wfg_ring_run(run);
  elsif not exists (
    select from wfg_jobs j where j.run_id = run and j.job_id = job and j.state = 'cancelled'
    union all
    select from wfg_history h where h.run_id = run and h.job_id = job and h.state = 'cancelled'
  ) then
    perform wfg_refuse(run, job, 'only what waits or runs is cancelled');
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_check_time(name text, at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if at not between '0001-01-01 00:00+00' and '9999-12-31 00:00+00' then
    raise exception '% must be a time in the years 1 to 9999, not %', name, at
      using errcode = 'WF001', hint = 'leave it out for now';
  end if;
  return at;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_circle(ids text[], child integer[], parent integer[])
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  needs int[] := array_fill(0, array[cardinality(ids)]);
  first_need int[] := array_fill(0, array[cardinality(ids)]);
  first_kid int[] := array_fill(0, array[cardinality(ids)]);
  kid int[]; kid_of int[]; ready int[]; path int[]; met int[];
  edges int := cardinality(child); done int := 0; count int := 0; at int; e int;
begin
  select array_agg(c order by p, c), array_agg(p order by p, c) into kid, kid_of from unnest(child, parent) as edge (c, p);
  for e in reverse edges..1 loop
    needs[child[e]] := needs[child[e]] + 1;
    first_need[child[e]] := e;
    first_kid[kid_of[e]] := e;
  end loop;
  for n in 1..cardinality(ids) loop
    if needs[n] = 0 then
      count := count + 1;
      ready[count] := n;
    end if;
  end loop;
  while done < count loop
    done := done + 1;
    e := first_kid[ready[done]];
    while e > 0 and e <= edges and kid_of[e] = ready[done] loop
      needs[kid[e]] := needs[kid[e]] - 1;
      if needs[kid[e]] = 0 then
        count := count + 1;
        ready[count] := kid[e];
      end if;
      e := e + 1;
    end loop;
  end loop;
  if done = cardinality(ids) then return null; end if;
  at := 1;
  while needs[at] = 0 loop at := at + 1; end loop;
  met := array_fill(0, array[cardinality(ids)]);
  count := 0;
  while met[at] = 0 loop
    count := count + 1;
    path[count] := at;
    met[at] := count;
    e := first_need[at];
    while needs[parent[e]] = 0 loop e := e + 1; end loop;
    at := parent[e];
  end loop;
  path[count + 1] := at;
  return (
    select string_agg(ids[step], ' -> ' order by n) from unnest(path) with ordinality as walked (step, n)
    where n >= met[at]);
end
$function$;

CREATE OR REPLACE FUNCTION wfg_day_of(part regclass)
 RETURNS date
 LANGUAGE sql
 STABLE
AS $function$
  select to_date(right(c.relname, 8), 'YYYYMMDD') from pg_catalog.pg_class c where c.oid = part
$function$;

CREATE OR REPLACE FUNCTION wfg_decode_step(text text, OUT task text, OUT step text, OUT fault text)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET search_path TO '$user', 'public'
AS $function$
declare
  value json; state json;
begin
  begin
    value := wfg_storable(text::json);
    if json_typeof(value) = 'object' then
      select key, inner_value into task, state from json_each(value) as outer_one (key, inner_value);
      if json_typeof(state) = 'object' and (select count(*) from json_each(value)) = 1
        and (select count(*) from json_each(state)) = 1 then
        select key into step from json_each(state) as inner_one (key, ignored);
      end if;
    end if;
  exception when data_exception or statement_too_complex then
    fault := format('the step is not JSON: %s', sqlerrm);
    return;
  end;
  if step is null then
    fault := 'the step is not {"<Task>":{"<Step>":<state>}}';
  elsif not wfg_is_printable(task) or not wfg_is_printable(step) then
    fault := 'the names of a task and its step must be 1 to 255 characters, none of them a control character';
  elsif wfg_is_too_deep(value) then
    fault := 'the step is nested more than 1000 levels deep';
  end if;
  if fault is not null then
    task := null; step := null;
  elsif exists (select from wfg_handlers h where h.kind = 'task' and h.workflow_type = task)
    and not exists (select from wfg_handlers h where h.kind = 'task' and h.workflow_type = task and h.step = wfg_decode_step.step)
  then
    fault := format('task %s has no step %s: it has %s', task, step, (
      select string_agg(h.step, ', ' order by h.step) from wfg_handlers h
      where h.kind = 'task' and h.workflow_type = task));
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_drop_day(parent regclass, kept_from date)
 RETURNS date
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
 SET lock_timeout TO '200ms'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION wfg_enqueue(workflow_type text, payload json DEFAULT '{}'::json, max_attempts integer DEFAULT 3, run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, priority integer DEFAULT 0, idempotency_key text DEFAULT NULL::text)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
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
  if run_at is null or run_at <= wfg_now() then perform wfg_ring_lane(lane, array[':event ' || workflow_type]); end if;
  return made;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_ensure_partitions(first date, last date)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION wfg_hold_task(run uuid, step text, error text)
 RETURNS wfg_jobs
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  job wfg_jobs;
begin
  select * into job from wfg_jobs j where j.run_id = run and j.position = 0 for update;
  if exists (
    select from pg_task t
    where t.id = run and t.step = coalesce(wfg_hold_task.step, t.step) and t.error is not distinct from wfg_hold_task.error)
  then
    return job;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_insert_run(id uuid, workflow_id text, name text, submitted json, ids text[], names text[], types text[], child integer[], parent integer[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
#variable_conflict use_column
begin
  insert into wfg_runs (id, workflow_id, name, submitted, open_jobs) values ($1, $2, $3, $4, cardinality(ids));
  -- One pass over jobs and edges, without a join that could be planned badly for many of them.
  insert into wfg_jobs (run_id, position, job_id, name, workflow_id, workflow_type, state, kind, required_labels, parents,
    children, blocked_on)
  select $1, j.position, j.job_id, j.name, $2, j.type, 'blocked', case when j.type is null then 'command' else 'event' end,
    array[coalesce(':event ' || j.type, ':command')], j.parents, j.children, cardinality(j.parents)
  from (
    select part.position, max(part.id) as job_id, max(part.name) as name, max(part.type) as type,
      coalesce(array_agg(part.parent order by part.n) filter (where part.parent is not null), '{}') as parents,
      coalesce(array_agg(part.child order by part.n) filter (where part.child is not null), '{}') as children
    from (
      select position::int, id, name, type, null::int as parent, null::int as child, 0 as n
      from unnest(ids, names, types) with ordinality as job (id, name, type, position)
      union all
      select c, null, null, null, p, null, n from unnest(child, parent) with ordinality as edge (c, p, n)
      union all
      select p, null, null, null, null, c, n from unnest(child, parent) with ordinality as edge (c, p, n)
    ) part
    group by part.position
  ) j;
  perform wfg_ring_settle();
end
$function$;

CREATE OR REPLACE FUNCTION wfg_insert_task(id uuid, step text, wakeup_at timestamp with time zone, error text, created_at timestamp with time zone)
 RETURNS wfg_jobs
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  decoded record; made wfg_jobs; stop text;
begin
  if step is null then
    raise exception 'a task needs a step' using errcode = 'WF001', hint = 'write {"<Task>":{"<Step>":<state>}}';
  end if;
  decoded := wfg_decode_step(step);
  stop := coalesce(error, decoded.fault);
  insert into wfg_jobs (run_id, position, job_id, name, workflow_type, step, state, kind, required_labels, payload,
    max_attempts, run_at, created_at, finished_at, error)
  values (coalesce(id, wfg_uuid7()), 0, 'main', coalesce(decoded.task, ''), coalesce(decoded.task, ''), decoded.step,
    case when stop is null then 'pending' else 'failed' end, 'task', wfg_task_labels(decoded.task),
    wfg_step_payload(step, decoded.step), wfg_step_attempts(decoded.task, decoded.step),
    coalesce(wfg_check_time('wakeup_at', wakeup_at), wfg_now()), coalesce(wfg_check_time('created_at', created_at), wfg_now()),
    case when stop is not null then wfg_now() end, stop)
  returning * into made;
  -- What is due later is rung for when it is.
  if stop is null and made.run_at <= wfg_now() then perform wfg_ring_lane(made.lane, made.required_labels); end if;
  return made;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_is_printable(name text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select char_length(name) between 1 and 255 and name !~ '[\u0001-\u001f\u007f-\u009f]'
$function$;

CREATE OR REPLACE FUNCTION wfg_is_too_deep(value json)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return length(value::text) - length(translate(value::text, '[{', '')) > 1000
    and jsonb_path_exists(value::jsonb, 'strict $.**{1000}');
exception when statement_too_complex or data_exception then
  -- Nested deeper than PostgreSQL can go, or with numbers beyond anyone's range.
  return true;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_job_fault(id text, job json, in_file boolean)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  needs json := case when in_file then job -> 'needs' else job -> 'depends_on' end;
  needs_key text := case when in_file then 'needs' else 'depends_on' end;
  command text;
begin
  if json_typeof(job) <> 'object' then return 'must be a job'; end if;
  if id is null or char_length(id) not between 1 and 255 or id ~ '[^A-Za-z0-9_.-]' or id in ('.', '..', '__proto__') then
    return format('Job id ''%s'' must match [A-Za-z0-9_.-]{1,255}', id);
  end if;
  if json_typeof(needs) = 'array' then
    if exists (select from json_array_elements(needs) as need (value) where json_typeof(value) <> 'string') then
      return needs_key || ': must be ids of jobs';
    end if;
  elsif not in_file or json_typeof(needs) not in ('string', 'null') then
    return needs_key || ': must be a list of ids of jobs';
  end if;
  if in_file and json_typeof(job -> 'uses') is not null then
    if json_typeof(job -> 'uses') = 'string' and wfg_is_printable(job ->> 'uses') then
      return null;
    end if;
    return 'uses: must be 1 to 255 characters, none of them a control character';
  end if;
  if not in_file then
    command := job ->> 'command';
  else
    if json_typeof(job -> 'steps') = 'array' then
      select string_agg(step ->> 'run', E'\n') into command from json_array_elements(job -> 'steps') as list (step)
      where step ->> 'run' ~ '\S';
    end if;
    command := coalesce(command, job ->> 'run');
  end if;
  if command is null or command !~ '\S' then
    return format('Job ''%s'': Job must have either ''run'' or ''steps'', or ''uses''', id);
  elsif octet_length(command) > 1048576 then
    return format('Job ''%s'': the command is longer than 1 MiB', id);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_keep_attempt(job wfg_jobs)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  today date := (wfg_now() at time zone 'utc')::date;
begin
  for try in 1..2 loop
    begin
      insert into wfg_attempts (ended_on, run_id, position, attempt, try, exit_code, log_chunks, log_lines, log_bytes, nonce,
        started_at, finished_at, outcome, worker_id, error, step)
      select today, job.run_id, job.position, job.attempt, wfg_last_try(job.tries, job.kind, job.outcome), job.exit_code,
        coalesce(job.log_chunks, 0), coalesce(job.log_lines, 0), coalesce(job.log_bytes, 0), job.nonce, job.started_at,
        job.finished_at, job.outcome, job.worker_id, job.error, job.step
      where job.attempt >= 0
        and not exists (
          select from wfg_attempts a
          where a.run_id = job.run_id and a.position = job.position and a.attempt = job.attempt);
      return;
    exception when check_violation then
      if try = 2 then raise; end if;
      perform wfg_ensure_partitions(today, today);
    end;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_key_holds(held wfg_keys)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO '$user', 'public'
AS $function$
begin
  if not held.until_ended then return held.expires_at > wfg_now(); end if;
  return exists (select from wfg_jobs j where j.run_id = held.subject::uuid and j.position = 0);
end
$function$;

CREATE OR REPLACE FUNCTION wfg_lane(labels text[], priority integer)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select hashtextextended(case when cardinality(labels) = 1 then labels[1] else (
    select string_agg(label, E'\n' order by label collate "C") from (select distinct unnest(labels)) as l (label)
  ) end || E'\n' || priority, 0)
$function$;

CREATE OR REPLACE FUNCTION wfg_last_try(tries integer, kind text, outcome text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when outcome = 'lost' and kind <> 'command' then tries + 1 else tries end
$function$;

CREATE OR REPLACE FUNCTION wfg_leave(run uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
begin
  for try in 1..2 loop
    begin
      with gone as (
        delete from wfg_jobs j where j.run_id = run and j.position = 0 returning j.*
      ), kept as (
        insert into wfg_history select (wfg_now() at time zone 'utc')::date, gone.* from gone
        returning moved_on, state, kind, started_at, finished_at
      )
      insert into wfg_event_tallies (moved_on, state, events, busy_ms)
      select moved_on, state, count(*),
        coalesce(sum(extract(epoch from finished_at - started_at) * 1000) filter (where state = 'completed'), 0)
      from kept where kind = 'event'
      group by moved_on, state;
      return;
    exception when check_violation then
      if try = 2 then raise; end if;
      perform wfg_ensure_partitions((wfg_now() at time zone 'utc')::date, (wfg_now() at time zone 'utc')::date);
    end;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_must_ring(required text[])
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  moment timestamptz := wfg_now() + (clock_timestamp() - now());
begin
  return (
    select count(*) > 0 and not coalesce(bool_or(w.hot && required and w.hot_until > moment), false)
      and not bool_and(w.full_of && required)
    from wfg_workers w
    where w.last_heartbeat >= moment - interval '30 seconds' and not w.draining and required <@ w.offered
  );
end
$function$;

CREATE OR REPLACE FUNCTION wfg_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$select now()$function$;

CREATE OR REPLACE FUNCTION wfg_offered(labels text[], handlers text[], tasks text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select labels || array[':command'] || array(select ':event ' || h.type from unnest(handlers) as h (type))
    || array(select ':task ' || t.name from unnest(tasks) as t (name))
$function$;

CREATE OR REPLACE FUNCTION wfg_once(function_name text, idempotency_key text, body json, id uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION wfg_pg_task_delete()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  job wfg_jobs;
begin
  job := wfg_hold_task(old.id, case when old.error is not null then old.step end, old.error);
  if job.run_id is null then return null; end if;
  if job.state = 'failed' then
    update wfg_jobs j set cancel_requested_at = wfg_now(), version = j.version + 1, updated_at = wfg_now()
    where j.run_id = old.id and j.position = 0;
    perform wfg_leave(old.id);
    perform wfg_ring_run(old.id);
  else
    perform wfg_cancel(old.id, 'main');
  end if;
  return old;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_pg_task_insert()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  made wfg_jobs; is_taken boolean;
begin
  if new.is_running then
    raise exception 'a new task does not run yet: leave is_running out' using errcode = 'WF001';
  end if;
  is_taken := new.id is not null and exists (select from wfg_jobs where run_id = new.id);
  if not is_taken then
    made := wfg_insert_task(new.id, new.step, new.wakeup_at, new.error, new.created_at);
    is_taken := new.id is not null and (
      exists (select from wfg_runs where id = new.id) or exists (select from wfg_history where run_id = new.id));
  end if;
  if is_taken then
    raise unique_violation using message = format('there is, or was, a run %s already', new.id),
      hint = 'leave id out: one is made';
  end if;
  select * into new from pg_task t where t.id = made.run_id;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_pg_task_update()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  job wfg_jobs; decoded record; stop text;
begin
  if new.id is distinct from old.id or new.created_at is distinct from old.created_at then
    raise exception 'id and created_at of a task cannot be changed' using errcode = 'WF001';
  end if;
  if new.is_running is distinct from old.is_running then
    raise exception 'is_running tells whether a worker holds the task: it cannot be set' using errcode = 'WF001',
      hint = 'a task whose worker died is taken back by itself when its lease runs out';
  end if;
  if (new.step, new.wakeup_at, new.error, new.tried) is not distinct from (old.step, old.wakeup_at, old.error, old.tried) then
    return new;
  end if;
  job := wfg_hold_task(old.id, old.step, old.error);
  if job.run_id is null then return null; end if;
  if job.state = 'active' then
    if (new.step, new.error) is distinct from (old.step, old.error) then
      raise exception 'task % is running and cannot be edited', old.id using errcode = 'WF005',
        hint = 'wait until its step has ended, or delete its row to cancel it';
    end if;
    return null;
  end if;
  if job.state = 'failed' then perform wfg_keep_attempt(job); end if;
  if new.step is distinct from old.step then
    if new.step is null then raise exception 'a task needs a step' using errcode = 'WF001'; end if;
    decoded := wfg_decode_step(new.step);
    update wfg_jobs j
    set payload = wfg_step_payload(new.step, decoded.step), workflow_type = coalesce(decoded.task, ''),
      name = coalesce(decoded.task, ''), step = decoded.step, required_labels = wfg_task_labels(decoded.task),
      max_attempts = wfg_step_attempts(decoded.task, decoded.step), tries = 0, losses = 0,
      version = j.version + 1, updated_at = wfg_now()
    where j.run_id = job.run_id and j.position = 0;
    stop := decoded.fault;
  end if;
  if stop is null and new.error is null and old.error is not null then
    perform wfg_revive(job.run_id);
  elsif coalesce(stop, new.error) is distinct from old.error then
    update wfg_jobs j
    set state = 'failed', error = coalesce(stop, new.error), finished_at = coalesce(j.finished_at, wfg_now()),
      version = j.version + 1, updated_at = wfg_now()
    where j.run_id = job.run_id and j.position = 0;
  end if;
  if new.wakeup_at is distinct from old.wakeup_at or new.tried is distinct from old.tried then
    update wfg_jobs j
    set run_at = case when new.wakeup_at is distinct from old.wakeup_at then coalesce(wfg_check_time('wakeup_at', new.wakeup_at), wfg_now()) else j.run_at end,
      tries = case when new.tried is distinct from old.tried then greatest(least(coalesce(new.tried, 0), j.attempt + 1), 0) else j.tries end,
      version = j.version + 1, updated_at = wfg_now()
    where j.run_id = job.run_id and j.position = 0;
  end if;
  select * into job from wfg_jobs j where j.run_id = old.id and j.position = 0;
  if job.state = 'pending' and job.run_at <= wfg_now() then perform wfg_ring_lane(job.lane); end if;
  perform wfg_ring_run(job.run_id);
  select * into new from pg_task t where t.id = old.id;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_prune_keys(most integer)
 RETURNS integer
 LANGUAGE sql
 SET search_path TO '$user', 'public'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION wfg_refuse(run uuid, job text, wanted text)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO '$user', 'public'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION wfg_requeue(run uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
begin
  if exists (select from wfg_runs r where r.id = run) then
    raise exception 'run % is one of a workflow: which of its jobs?', run using errcode = 'WF003',
      hint = 'wfg_requeue(run, job) while it goes on; afterwards start it again by wfg_run or wfg_submit';
  end if;
  perform wfg_requeue(run, 'main');
end
$function$;

CREATE OR REPLACE FUNCTION wfg_requeue(run uuid, job text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  lane bigint; fault text;
begin
  if exists (select from wfg_runs r where r.id = run) then
    perform wfg_retry(run, job);
    return;
  end if;
  if job = 'main' then
    lane := wfg_revive(run);
    select j.error into fault from wfg_jobs j where j.run_id = run and j.position = 0 and j.state = 'failed';
    if found then
      raise exception 'task % cannot go on: %', run, fault using errcode = 'WF003',
        hint = format('edit its step: update pg_task set step = …, error = null where id = %L', run);
    end if;
  end if;
  if lane is null then
    perform wfg_refuse(run, job, 'only an event or a task that failed is requeued');
  end if;
  perform wfg_ring_lane(lane);
  perform wfg_ring_run(run);
end
$function$;

CREATE OR REPLACE FUNCTION wfg_retry(run uuid, job text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  its wfg_runs; ended wfg_jobs; bad record;
begin
  select * into its from wfg_runs r where r.id = run for update;
  if its.state <> 'open' then
    raise exception 'run % has ended: it %', run, its.state using errcode = 'WF003',
      hint = format('rerun it: POST /api/runs/%s/rerun, or wfg rerun %s --from failed', run, run);
  elsif its.cancel_requested_at is not null or its.timed_out_at is not null then
    raise exception 'run % is ending: it %', run,
      case when its.cancel_requested_at is not null then 'was cancelled' else 'is out of time' end
      using errcode = 'WF003', hint = 'rerun it when it has ended';
  end if;
  select * into ended from wfg_jobs j where j.run_id = run and j.job_id = job for update;
  if not found or ended.state not in ('failed', 'cancelled', 'skipped') then
    perform wfg_refuse(run, job, 'only what failed, was cancelled or was skipped is tried again');
  end if;
  -- Parents of an ended job have ended, and change under the lock on the run alone.
  select p.job_id, p.state into bad from unnest(ended.parents) as parent (position)
  join wfg_jobs p on p.run_id = run and p.position = parent.position
  where ended.tolerates = 'nothing' and p.finished_at is not null and not (p.state = 'completed' and p.upstream_ok)
  order by p.position limit 1;
  if found then
    raise exception 'job % of run % needs %, which is %', quote_literal(job), run, quote_literal(bad.job_id), bad.state
      using errcode = 'WF003', hint = 'retry that one: what was skipped because of it then waits for it again';
  end if;
  perform wfg_keep_attempt(ended);
  update wfg_jobs j
  set state = 'blocked', version = j.version + 1, updated_at = wfg_now(), finished_at = null, cancel_requested_at = null,
    tries = 0, losses = 0, out_of_time = false, resolved = null, outputs = null, settled = true,
    error = case when ended.state = 'skipped' then null else j.error end
  where j.run_id = run and j.position = ended.position;
  -- What was settled had been counted as ended.
  update wfg_runs r
  set open_jobs = r.open_jobs + ended.settled::int, retried = array_append(coalesce(r.retried, '{}'), ended.position),
    settled = false
  where r.id = run;
  perform wfg_ring_settle();
end
$function$;

CREATE OR REPLACE FUNCTION wfg_revive(run uuid)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  dead wfg_jobs; decoded record; lane bigint;
begin
  select * into dead from wfg_jobs j where j.run_id = run and j.position = 0 and j.state = 'failed' for update;
  if not found then return null; end if;
  if dead.kind = 'task' then
    decoded := wfg_decode_step(wfg_step_text(dead.payload));
    if decoded.fault is not null then
      update wfg_jobs j set error = decoded.fault, version = j.version + 1, updated_at = wfg_now()
      where j.run_id = run and j.position = 0;
      return null;
    end if;
  end if;
  perform wfg_keep_attempt(dead);
  update wfg_jobs j
  set state = 'pending', version = j.version + 1, updated_at = wfg_now(), finished_at = null, cancel_requested_at = null,
    tries = 0, losses = 0, run_at = wfg_now(), expires_at = wfg_now() + make_interval(secs => j.expires_secs),
    max_attempts = case when j.kind = 'task' then wfg_step_attempts(j.workflow_type, j.step) else j.max_attempts end
  where j.run_id = run and j.position = 0
  returning j.lane into lane;
  return lane;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_ring_lane(lane bigint)
 RETURNS void
 LANGUAGE plpgsql
 STRICT
 SET search_path TO '$user', 'public'
AS $function$
declare
  required text[];
begin
  select j.required_labels into required from wfg_jobs j
  where j.state = 'pending' and j.lane = wfg_ring_lane.lane order by j.run_at limit 1;
  if found then perform wfg_ring_lane(lane, required); end if;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_ring_lane(lane bigint, required text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  before text[];
  nth int;
begin
  if not wfg_must_ring(required) then return; end if;
  before := string_to_array(current_setting('wfg.rung', true), ' ');
  nth := case when before[1] = lane::text then before[2]::int + 1 else 1 end;
  perform set_config('wfg.rung', format('%s %s', lane, nth), true);
  if nth & (nth - 1) <> 0 then return; end if;
  perform pg_notify('wfg_events', format(
    -- Too long to be told: everyone looks.
    case when octet_length(to_json(required)::text) > 5000 then '{"v":1,"lanes":{"%1$s":%2$s}}'
    else '{"v":1,"lanes":{"%1$s":%2$s},"requires":{"%1$s":%3$s},"nonce":%4$s}' end,
    lane, greatest(nth / 2, 1), to_json(required), hashtext(pg_current_xact_id()::text) & 2147483647));
end
$function$;

CREATE OR REPLACE FUNCTION wfg_ring_run(run uuid)
 RETURNS void
 LANGUAGE sql
 STRICT
AS $function$
  select pg_notify('wfg_events', format('{"v":1,"runs":["%s"]}', run))
$function$;

CREATE OR REPLACE FUNCTION wfg_ring_settle()
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_notify('wfg_events', '{"v":1,"settle":true}')
$function$;

CREATE OR REPLACE FUNCTION wfg_run(workflow_id text)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  made uuid := wfg_uuid7(); its wfg_workflows; places jsonb;
begin
  select * into its from wfg_workflows w where w.id = wfg_run.workflow_id;
  if not found then
    raise exception 'there is no workflow %', quote_nullable(workflow_id) using errcode = 'WF002',
      hint = 'select id from wfg_workflows lists them; select wfg_submit(…) runs one that is not stored';
  end if;
  select coalesce(jsonb_object_agg(job ->> 'id', n), '{}') into places
  from json_array_elements(its.definition -> 'jobs') with ordinality as list (job, n);
  perform wfg_insert_run(made, its.id, its.name, its.definition, ids, names, types, child, parent)
  from (
    select coalesce(array_agg(job ->> 'id' order by n), '{}') as ids, coalesce(array_agg(job ->> 'name' order by n), '{}') as names,
      coalesce(array_agg(job ->> 'uses' order by n), '{}') as types
    from json_array_elements(its.definition -> 'jobs') with ordinality as list (job, n)
  ) node
  cross join (
    select coalesce(array_agg(n::int order by n, m), '{}') as child,
      coalesce(array_agg((places ->> need)::int order by n, m), '{}') as parent
    from json_array_elements(its.definition -> 'jobs') with ordinality as list (job, n)
    cross join lateral json_array_elements_text(job -> 'needs') with ordinality as needed (need, m)
  ) edge;
  return made;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_step_attempts(task text, step text)
 RETURNS integer
 LANGUAGE sql
 STABLE
 SET search_path TO '$user', 'public'
AS $function$
  select coalesce((
    select h.max_attempts from wfg_handlers h
    where h.kind = 'task' and h.workflow_type = task and h.step = wfg_step_attempts.step), 1)
$function$;

CREATE OR REPLACE FUNCTION wfg_step_payload(text text, step text)
 RETURNS json
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when step is null then to_json(text) else wfg_storable(text::json) end
$function$;

CREATE OR REPLACE FUNCTION wfg_step_text(payload json)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when json_typeof(payload) = 'string' then payload #>> '{}' else payload::text end
$function$;

CREATE OR REPLACE FUNCTION wfg_storable(value json)
 RETURNS json
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when value::text !~ '\\u(0000|[dD][89a-fA-F])' then value else replace(
    regexp_replace(
      regexp_replace(
        replace(replace(value::text, '\\', chr(1)), '\u0000', chr(9216)),
        '\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})', chr(65533), 'g'),
      '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}', chr(65533), 'g'),
    chr(1), '\\')::json end
$function$;

CREATE OR REPLACE FUNCTION wfg_submit(workflow json, idempotency_key text DEFAULT NULL::text)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  made uuid := wfg_uuid7(); known uuid; fault text; jobs json; in_file boolean;
  ids text[]; names text[]; types text[]; places jsonb; child int[]; parent int[]; edges int;
begin
  if workflow is null or json_typeof(workflow) <> 'object' then
    fault := 'a workflow must be an object with name and jobs';
  elsif octet_length(workflow::text) > 16777216 then
    fault := 'the workflow is larger than 16 MiB';
  elsif wfg_is_too_deep(workflow) then
    fault := 'it is nested too deeply';
  end if;
  if fault is null then
    workflow := wfg_storable(workflow);
    known := wfg_once('wfg_submit', idempotency_key, workflow, made);
    if known is not null then return known; end if;
    jobs := workflow -> 'jobs';
    in_file := json_typeof(jobs) = 'object';
    if json_typeof(workflow -> 'name') is distinct from 'string' or char_length(workflow ->> 'name') not between 1 and 1000 then
      fault := 'name: must be text of 1 to 1000 characters';
    elsif jobs is null or json_typeof(jobs) not in ('object', 'array') then
      fault := 'jobs: must be a map of jobs by their ids (or workflow-graph''s array of jobs)';
    end if;
  end if;
  if fault is null then
    select coalesce(array_agg(id order by n), '{}'), coalesce(array_agg(coalesce(job ->> 'name', id) order by n), '{}'),
      coalesce(array_agg(case when in_file then job ->> 'uses' end order by n), '{}'),
      (array_agg(path || ': ' || wrong order by n) filter (where wrong is not null))[1],
      coalesce(jsonb_object_agg(id, n) filter (where id is not null), '{}')
    into ids, names, types, fault, places
    from (
      select n, key as id, value as job, 'jobs.' || key as path
      from json_each(case when in_file then jobs end) with ordinality as entry (key, value, n)
      union all
      select n, case when json_typeof(value) = 'object' then value ->> 'id' end, value, 'jobs.' || n - 1
      from json_array_elements(case when not in_file then jobs end) with ordinality as element (value, n)
    ) given
    cross join lateral wfg_job_fault(id, job, in_file) as checked (wrong);
    if cardinality(ids) > 10000 then
      fault := format('jobs: %s jobs are more than the 10000 a workflow may have', cardinality(ids));
    end if;
  end if;
  if fault is null and (select count(*) from jsonb_object_keys(places)) < cardinality(ids) then
    select format('jobs: Job ''%s'' appears twice', id) into fault from unnest(ids) as named (id)
    group by id having count(*) > 1 order by id limit 1;
  end if;
  if fault is null then
    -- Which jobs are needed is looked up in `places`: a join could be planned badly for many of them.
    select coalesce(array_agg(n order by n, m), '{}'), coalesce(array_agg((places ->> need)::int order by n, m), '{}'),
      (array_agg(format('jobs: Job ''%s'' depends on ''%s'', which doesn''t exist', ids[n], need) order by n, m)
        filter (where not places ? need))[1]
    into child, parent, fault
    from (
      select n::int, need, min(m) as m
      from (
        select (places ->> key)::int as n, value -> 'needs' as needs
        from json_each(case when in_file then jobs end) as entry (key, value)
        union all
        select n, value -> 'depends_on'
        from json_array_elements(case when not in_file then jobs end) with ordinality as element (value, n)
      ) given
      cross join lateral json_array_elements_text(
        case json_typeof(needs) when 'array' then needs when 'string' then json_build_array(needs) else '[]' end)
        with ordinality as list (need, m)
      group by n, need
    ) edge;
    edges := cardinality(child);
    if edges > 200000 then
      fault := format('jobs: %s dependencies are more than the 200000 a workflow may have', edges);
    end if;
  end if;
  if fault is null then
    fault := 'jobs: The jobs need each other in a circle: ' || wfg_circle(ids, child, parent);
  end if;
  if fault is not null then
    raise exception 'the workflow is not valid: %', fault using errcode = 'WF001',
      hint = 'mend it and submit it again; deploy/workflow-file.md has every key';
  end if;
  perform wfg_insert_run(made, null, workflow ->> 'name', workflow, ids, names, types, child, parent);
  return made;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_take_key(scope text, key text, body_hash bytea, subject text, expires_at timestamp with time zone DEFAULT NULL::timestamp with time zone, until_ended boolean DEFAULT false)
 RETURNS wfg_keys
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION wfg_task_labels(task text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select array[':task ' || coalesce(task, '')]
$function$;

CREATE OR REPLACE FUNCTION wfg_task(step json, wakeup_at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
declare
  decoded record;
begin
  decoded := wfg_decode_step(step::text);
  if decoded.fault is not null or step is null then
    raise exception '%', coalesce(decoded.fault, 'a task needs a step')
      using errcode = 'WF001', hint = 'write {"<Task>":{"<Step>":<state>}}, with a state of null for a step without fields';
  end if;
  return (wfg_insert_task(null, step::text, wakeup_at, null, null)).run_id;
end
$function$;

CREATE OR REPLACE FUNCTION wfg_uuid7()
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select encode(
    int8send((((t.us / 1000) << 16) | (7 << 12) | ((t.us % 1000) * 4096 / 1000))) || substring(uuid_send(gen_random_uuid()) from 9),
    'hex')::uuid
  from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as us) t
$function$;

create table wfg_attempts (
  ended_on date not null,
  run_id uuid not null,
  "position" integer not null,
  attempt integer not null,
  try integer not null,
  exit_code integer,
  log_chunks integer not null,
  log_lines bigint not null,
  log_bytes bigint not null,
  nonce bigint not null,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone not null,
  outcome text not null,
  worker_id text not null,
  error text,
  step text,
  constraint wfg_attempts_outcome_check CHECK (outcome = ANY (ARRAY['completed'::text, 'failed'::text, 'timed_out'::text, 'lost'::text, 'handed_back'::text, 'cancelled'::text])),
  constraint wfg_attempts_pkey PRIMARY KEY (run_id, "position", attempt, ended_on)
) partition by RANGE (ended_on);

create table wfg_audit (
  id bigint generated always as identity not null,
  at timestamp with time zone default wfg_now() not null,
  actor text not null,
  action text not null,
  operation_id uuid not null,
  run_id uuid,
  detail json,
  constraint wfg_audit_action_check CHECK (action = ANY (ARRAY['requeue all'::text, 'requeue'::text])),
  constraint wfg_audit_pkey PRIMARY KEY (id)
);
CREATE INDEX wfg_audit_at ON wfg_audit USING btree (at);
CREATE INDEX wfg_audit_of_run ON wfg_audit USING btree (run_id) WHERE run_id IS NOT NULL;
comment on column wfg_audit.actor is 'by what right and from where it was asked for, or the operation that does it';

create table wfg_counts (
  one boolean default true not null,
  counted_at timestamp with time zone not null,
  counts json not null,
  constraint wfg_counts_one_check CHECK (one),
  constraint wfg_counts_pkey PRIMARY KEY (one)
);

create table wfg_event_tallies (
  moved_on date not null,
  state text not null,
  events bigint not null,
  busy_ms bigint not null,
  constraint wfg_event_tallies_state_check CHECK (state = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text]))
);
comment on column wfg_event_tallies.busy_ms is 'what their last attempts took together';

create table wfg_handlers (
  workflow_type text not null,
  backoff json,
  timeout_secs integer,
  declared_at timestamp with time zone default wfg_now() not null,
  kind text not null,
  step text not null,
  max_attempts integer,
  constraint wfg_handlers_check CHECK ((kind = 'task'::text) = (step <> ''::text)),
  constraint wfg_handlers_kind_check CHECK (kind = ANY (ARRAY['event'::text, 'task'::text])),
  constraint wfg_handlers_max_attempts_check CHECK (max_attempts >= 1),
  constraint wfg_handlers_pkey PRIMARY KEY (kind, workflow_type, step),
  constraint wfg_handlers_timeout_secs_check CHECK (timeout_secs > 0)
);
comment on column wfg_handlers.max_attempts is 'of a step: its tries; null for events, which bring their own';

create table wfg_history (
  moved_on date not null,
  run_id uuid not null,
  "position" integer not null,
  version integer not null,
  lane bigint,
  run_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  begun_at timestamp with time zone,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  lease_expires_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  expires_at timestamp with time zone,
  nonce bigint,
  log_lines bigint,
  log_bytes bigint,
  log_chunks integer,
  exit_code integer,
  lease_secs integer,
  timeout_secs integer,
  attempt integer not null,
  tries integer not null,
  losses integer not null,
  max_attempts integer not null,
  priority integer not null,
  blocked_on integer not null,
  settled boolean not null,
  upstream_ok boolean not null,
  upstream_failed boolean not null,
  state text not null,
  kind text not null,
  outcome text,
  job_id text not null,
  name text not null,
  workflow_id text,
  workflow_type text,
  worker_id text,
  instance uuid,
  reused_from uuid,
  required_labels text[] not null,
  parents integer[] not null,
  children integer[] not null,
  condition text,
  error text,
  backoff json,
  spec json,
  payload json,
  outputs json,
  metadata json,
  tolerates text default 'nothing'::text not null,
  out_of_time boolean default false not null,
  expires_secs integer,
  resolved json,
  step text,
  constraint wfg_history_pkey PRIMARY KEY (run_id, "position", moved_on)
) partition by RANGE (moved_on);
CREATE INDEX wfg_history_of_type ON ONLY wfg_history USING btree (workflow_type, run_id) WHERE "position" = 0;
CREATE INDEX wfg_history_standalone ON ONLY wfg_history USING btree (run_id) WHERE "position" = 0;
CREATE INDEX wfg_history_uncompleted ON ONLY wfg_history USING btree (run_id) WHERE "position" = 0 AND state <> 'completed'::text;

create table wfg_jobs (
  run_id uuid not null,
  "position" integer not null,
  version integer default 1 not null,
  lane bigint generated always as (wfg_lane(required_labels, priority)) stored,
  run_at timestamp with time zone default wfg_now() not null,
  created_at timestamp with time zone default wfg_now() not null,
  updated_at timestamp with time zone default wfg_now() not null,
  begun_at timestamp with time zone,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  lease_expires_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  expires_at timestamp with time zone,
  nonce bigint,
  log_lines bigint,
  log_bytes bigint,
  log_chunks integer,
  exit_code integer,
  lease_secs integer,
  timeout_secs integer,
  attempt integer default '-1'::integer not null,
  tries integer default 0 not null,
  losses integer default 0 not null,
  max_attempts integer default 1 not null,
  priority integer default 0 not null,
  blocked_on integer default 0 not null,
  settled boolean default true not null,
  upstream_ok boolean default true not null,
  upstream_failed boolean default false not null,
  state text not null,
  kind text not null,
  outcome text,
  job_id text not null,
  name text not null,
  workflow_id text,
  workflow_type text,
  worker_id text,
  instance uuid,
  reused_from uuid,
  required_labels text[] not null,
  parents integer[] default '{}'::integer[] not null,
  children integer[] default '{}'::integer[] not null,
  condition text,
  error text,
  backoff json,
  spec json,
  payload json,
  outputs json,
  metadata json,
  tolerates text default 'nothing'::text not null,
  out_of_time boolean default false not null,
  expires_secs integer,
  resolved json,
  step text,
  constraint active_has_lease CHECK ((state = 'active'::text) = (lease_expires_at IS NOT NULL) AND (state <> 'active'::text OR nonce IS NOT NULL AND started_at IS NOT NULL AND worker_id IS NOT NULL)),
  constraint ended_has_time CHECK ((state = ANY (ARRAY['completed'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text])) = (finished_at IS NOT NULL)),
  constraint kind_has_type CHECK ((kind = 'command'::text) = (workflow_type IS NULL)),
  constraint only_ended_is_unsettled CHECK (settled OR finished_at IS NOT NULL AND "position" > 0),
  constraint only_graph_is_blocked CHECK ("position" > 0 OR (state <> ALL (ARRAY['blocked'::text, 'skipped'::text]))),
  constraint only_task_has_step CHECK (step IS NULL OR kind = 'task'::text),
  constraint wfg_jobs_attempt_check CHECK (attempt >= '-1'::integer),
  constraint wfg_jobs_blocked_on_check CHECK (blocked_on >= 0),
  constraint wfg_jobs_check CHECK (tries >= 0 AND tries <= (attempt + 1)),
  constraint wfg_jobs_kind_check CHECK (kind = ANY (ARRAY['command'::text, 'event'::text, 'task'::text])),
  constraint wfg_jobs_max_attempts_check CHECK (max_attempts >= 1),
  constraint wfg_jobs_outcome_check CHECK (outcome = ANY (ARRAY['completed'::text, 'failed'::text, 'timed_out'::text, 'lost'::text, 'handed_back'::text, 'cancelled'::text])),
  constraint wfg_jobs_pkey PRIMARY KEY (run_id, "position"),
  constraint wfg_jobs_position_check CHECK ("position" >= 0),
  constraint wfg_jobs_priority_check CHECK (priority >= '-100'::integer AND priority <= 100),
  constraint wfg_jobs_required_labels_check CHECK (cardinality(required_labels) > 0 AND array_position(required_labels, NULL::text) IS NULL),
  constraint wfg_jobs_state_check CHECK (state = ANY (ARRAY['blocked'::text, 'pending'::text, 'active'::text, 'completed'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text])),
  constraint wfg_jobs_tolerates_check CHECK (tolerates = ANY (ARRAY['nothing'::text, 'failure'::text, 'cancel'::text]))
) with (
  fillfactor=80,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000,
  autovacuum_analyze_scale_factor=0.05,
  autovacuum_vacuum_cost_delay=1
);
CREATE INDEX wfg_jobs_active ON wfg_jobs USING btree (worker_id) WHERE state = 'active'::text;
CREATE INDEX wfg_jobs_claim ON wfg_jobs USING btree (lane, run_at, run_id, "position") WHERE state = 'pending'::text;
CREATE INDEX wfg_jobs_dead ON wfg_jobs USING btree (run_id) WHERE "position" = 0 AND state = 'failed'::text;
CREATE INDEX wfg_jobs_expiring ON wfg_jobs USING btree (expires_at) WHERE expires_at IS NOT NULL AND (state = ANY (ARRAY['blocked'::text, 'pending'::text]));
CREATE INDEX wfg_jobs_standalone ON wfg_jobs USING btree (run_id, kind, state, tries, workflow_type) WHERE "position" = 0;
CREATE INDEX wfg_jobs_tasks ON wfg_jobs USING btree (run_id) WHERE "position" = 0 AND kind = 'task'::text;
CREATE INDEX wfg_jobs_unsettled ON wfg_jobs USING btree (run_id) WHERE NOT settled;
CREATE UNIQUE INDEX wfg_jobs_by_name ON wfg_jobs USING btree (run_id, job_id) WHERE "position" > 0;
comment on column wfg_jobs.attempt is 'the last attempt begun, -1 before the first; never reused';
comment on column wfg_jobs.begun_at is 'when the first attempt started; started_at: the last one';
comment on column wfg_jobs.blocked_on is 'parents not yet settled';
comment on column wfg_jobs.children is 'positions of the jobs that depend on it';
comment on column wfg_jobs.condition is 'an expression that a scheduler judges when all parents have ended; null: released without';
comment on column wfg_jobs.error is 'the last error, or why it was skipped; never cleared by success';
comment on column wfg_jobs.expires_secs is 'how long it may wait for its first attempt once it can be claimed; expires_at is made from it';
comment on column wfg_jobs.lane is 'hash of (required_labels, priority): what a worker claims by';
comment on column wfg_jobs.out_of_time is 'it is asked to stop because its run''s time is over: it ends failed, not cancelled';
comment on column wfg_jobs.outcome is 'how the last attempt ended';
comment on column wfg_jobs.parents is 'positions of the jobs it depends on, as the user ordered them';
comment on column wfg_jobs.required_labels is 'with the implied one: :command, :event <type>, :task <name>';
comment on column wfg_jobs.resolved is '{spec, payload} with the values of their expressions; null: they have none';
comment on column wfg_jobs.settled is 'false: ended, and a scheduler has not yet told its children and its run';
comment on column wfg_jobs.step is 'of a task: the step that comes next, or that it stopped at; null when undecodable';
comment on column wfg_jobs.tolerates is 'nothing: skipped as soon as an ancestor did not complete; failure: judged all the same; cancel: spared by a cancel of the run too';
comment on column wfg_jobs.tries is 'attempts that count against max_attempts, and the one that runs';
comment on column wfg_jobs.upstream_failed is 'a settled ancestor failed';
comment on column wfg_jobs.upstream_ok is 'every settled ancestor completed';
comment on column wfg_jobs.version is 'grows with every transition, by as much as it has events to tell';
comment on table wfg_jobs is 'jobs of open runs, and standalone jobs until completed, cancelled or discarded';

create table wfg_keys (
  scope text not null,
  key text not null,
  body_hash bytea,
  subject text,
  status integer,
  created_at timestamp with time zone default wfg_now() not null,
  expires_at timestamp with time zone not null,
  until_ended boolean default false not null,
  constraint wfg_keys_pkey PRIMARY KEY (scope, key)
);
CREATE INDEX wfg_keys_expiring ON wfg_keys USING btree (expires_at);
comment on column wfg_keys.body_hash is 'what was asked for; another body under the same key is refused';
comment on column wfg_keys.scope is 'method and path of a route, the name of a SQL function, or `unique <workflow_type>`';
comment on column wfg_keys.status is 'the first answer''s, over HTTP';
comment on column wfg_keys.subject is 'what was made: a run, a workflow, a lease; null only inside the transaction that makes it';
comment on column wfg_keys.until_ended is 'it holds as long as its standalone job is live; expires_at is when to see whether it is';

create table wfg_logs (
  day date not null,
  run_id uuid not null,
  "position" integer not null,
  attempt integer not null,
  sequence integer not null,
  line bigint not null,
  lines bigint not null,
  bytes bigint not null,
  at timestamp with time zone not null,
  stream text not null,
  data text not null,
  sender json,
  constraint wfg_logs_pkey PRIMARY KEY (day, run_id, "position", attempt, sequence),
  constraint wfg_logs_sequence_check CHECK (sequence >= 0),
  constraint wfg_logs_stream_check CHECK (stream = ANY (ARRAY['stdout'::text, 'stderr'::text]))
) partition by RANGE (day);
comment on column wfg_logs.sender is 'on the last row of a push: the sender''s number of the chunk that comes next, the lines that were sent in part, whether the limit is reached';

create table wfg_migrations (
  name text not null,
  sha256 text not null,
  breaking boolean not null,
  applied_at timestamp with time zone default now() not null,
  constraint wfg_migrations_pkey PRIMARY KEY (name)
);

create table wfg_operations (
  id uuid default wfg_uuid7() not null,
  kind text not null,
  filter json not null,
  total integer not null,
  done integer default 0 not null,
  created_at timestamp with time zone default wfg_now() not null,
  finished_at timestamp with time zone,
  constraint wfg_operations_done_check CHECK (done >= 0),
  constraint wfg_operations_kind_check CHECK (kind = 'requeue'::text),
  constraint wfg_operations_pkey PRIMARY KEY (id),
  constraint wfg_operations_total_check CHECK (total >= 0)
);
CREATE INDEX wfg_operations_open ON wfg_operations USING btree (id) WHERE finished_at IS NULL;
comment on column wfg_operations.total is 'the jobs that it was to be done for when it was asked for';

create table wfg_reaper (
  one boolean default true not null,
  steady_until timestamp with time zone not null,
  resumed_at timestamp with time zone not null,
  constraint wfg_reaper_one_check CHECK (one),
  constraint wfg_reaper_pkey PRIMARY KEY (one)
);

create table wfg_run_numbers (
  workflow_id text not null,
  last bigint not null,
  constraint wfg_run_numbers_pkey PRIMARY KEY (workflow_id)
);

create table wfg_runs (
  id uuid default wfg_uuid7() not null,
  number bigint,
  created_at timestamp with time zone default wfg_now() not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  rerun_of uuid,
  version integer default 1 not null,
  open_jobs integer not null,
  settled boolean default false not null,
  cancel_force boolean default false not null,
  state text default 'open'::text not null,
  workflow_id text,
  name text not null,
  trigger text default ''::text not null,
  error text,
  env json default '{}'::json not null,
  deadline_at timestamp with time zone,
  timed_out_at timestamp with time zone,
  submitted json,
  retried integer[],
  timeout_secs integer,
  constraint ended_has_time CHECK ((state = 'open'::text) = (finished_at IS NULL)),
  constraint wfg_runs_open_jobs_check CHECK (open_jobs >= 0),
  constraint wfg_runs_pkey PRIMARY KEY (id),
  constraint wfg_runs_state_check CHECK (state = ANY (ARRAY['open'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))
);
CREATE INDEX wfg_runs_by_state ON wfg_runs USING btree (state, id);
CREATE INDEX wfg_runs_deadline ON wfg_runs USING btree (deadline_at) WHERE state = 'open'::text AND timed_out_at IS NULL;
CREATE INDEX wfg_runs_ended ON wfg_runs USING btree (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX wfg_runs_of_workflow ON wfg_runs USING btree (workflow_id, id);
CREATE INDEX wfg_runs_open ON wfg_runs USING btree (workflow_id, id) WHERE state = 'open'::text;
CREATE INDEX wfg_runs_unsettled ON wfg_runs USING btree (id) WHERE NOT settled;
comment on column wfg_runs.open_jobs is 'jobs that have not ended and been settled; at 0 the run ends';
comment on column wfg_runs.retried is 'positions of jobs that were given back and that no scheduler has looked at since';
comment on column wfg_runs.settled is 'false: a scheduler must look (new, or a cancel was asked for)';
comment on column wfg_runs.submitted is 'a workflow from SQL that no scheduler has read yet; of a stored workflow, its definition';
comment on column wfg_runs.timed_out_at is 'when the deadline was found to have passed: what waited is cancelled, what runs is stopped';
comment on column wfg_runs.timeout_secs is 'how long it may take, from when it can begin: of one from SQL that is when it was read';
comment on column wfg_runs.version is 'a run''s rev: while open its jobs'' versions are added; when it ends they are counted in';

create table wfg_schedules (
  id text not null,
  defined_by text,
  cron text not null,
  timezone text not null,
  catch_up text not null,
  paused boolean default false not null,
  workflow_id text,
  env json,
  workflow_type text,
  payload json,
  max_attempts integer,
  priority integer,
  next_at timestamp with time zone,
  last_tick_at timestamp with time zone,
  error text,
  created_at timestamp with time zone default wfg_now() not null,
  updated_at timestamp with time zone default wfg_now() not null,
  constraint defined_has_number CHECK ((defined_by IS NULL) = (id !~ ':'::text)),
  constraint event_is_whole CHECK ((workflow_type IS NULL) = (payload IS NULL) AND (workflow_type IS NULL) = (max_attempts IS NULL) AND (workflow_type IS NULL) = (priority IS NULL)),
  constraint paused_has_no_next CHECK (NOT paused OR next_at IS NULL),
  constraint starts_one_thing CHECK ((workflow_id IS NULL) <> (workflow_type IS NULL)),
  constraint wfg_schedules_catch_up_check CHECK (catch_up = ANY (ARRAY['skip'::text, 'last'::text, 'all'::text])),
  constraint wfg_schedules_defined_by_fkey FOREIGN KEY (defined_by) REFERENCES wfg_workflows(id) ON DELETE CASCADE,
  constraint wfg_schedules_id_check CHECK (id ~ '^[A-Za-z0-9_.-]{1,255}(:[0-9]{1,4})?$'::text),
  constraint wfg_schedules_max_attempts_check CHECK (max_attempts >= 1 AND max_attempts <= 100),
  constraint wfg_schedules_pkey PRIMARY KEY (id),
  constraint wfg_schedules_priority_check CHECK (priority >= '-100'::integer AND priority <= 100),
  constraint workflow_has_env CHECK ((workflow_id IS NULL) = (env IS NULL))
);
CREATE INDEX wfg_schedules_due ON wfg_schedules USING btree (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX wfg_schedules_newest ON wfg_schedules USING btree (created_at DESC, id);
CREATE INDEX wfg_schedules_of_definition ON wfg_schedules USING btree (defined_by) WHERE defined_by IS NOT NULL;
comment on column wfg_schedules.defined_by is 'the workflow whose definition asks for it; null: made by hand';
comment on column wfg_schedules.error is 'why the last tick started nothing; null when it did';
comment on column wfg_schedules.last_tick_at is 'the last tick decided';
comment on column wfg_schedules.next_at is 'the first tick not yet decided; null: paused, or it never comes';

create table wfg_sessions (
  hash bytea not null,
  token_hash bytea,
  created_at timestamp with time zone default wfg_now() not null,
  expires_at timestamp with time zone not null,
  constraint wfg_sessions_hash_check CHECK (octet_length(hash) = 32),
  constraint wfg_sessions_pkey PRIMARY KEY (hash),
  constraint wfg_sessions_token_hash_fkey FOREIGN KEY (token_hash) REFERENCES wfg_tokens(hash) ON UPDATE SET NULL ON DELETE CASCADE
);
CREATE INDEX wfg_sessions_of_token ON wfg_sessions USING btree (token_hash);

create table wfg_ticks (
  schedule_id text not null,
  tick_at timestamp with time zone not null,
  outcome text not null,
  run_id uuid,
  error text,
  at timestamp with time zone default wfg_now() not null,
  constraint failed_has_error CHECK ((outcome = 'failed'::text) = (error IS NOT NULL)),
  constraint fired_has_run CHECK ((outcome = 'fired'::text) = (run_id IS NOT NULL)),
  constraint wfg_ticks_outcome_check CHECK (outcome = ANY (ARRAY['fired'::text, 'missed'::text, 'failed'::text])),
  constraint wfg_ticks_pkey PRIMARY KEY (schedule_id, tick_at),
  constraint wfg_ticks_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES wfg_schedules(id) ON DELETE CASCADE
);
CREATE INDEX wfg_ticks_oldest ON wfg_ticks USING btree (tick_at);
comment on column wfg_ticks.at is 'when it was decided';
comment on table wfg_ticks is 'fired: it started run_id; missed: nothing was started, it was too late; failed: it could not be';

create table wfg_tokens (
  id uuid default wfg_uuid7() not null,
  name text not null,
  role text not null,
  hash bytea not null,
  created_at timestamp with time zone default wfg_now() not null,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint known_role CHECK (role = 'admin'::text),
  constraint wfg_tokens_hash_check CHECK (octet_length(hash) = 32),
  constraint wfg_tokens_hash_key UNIQUE (hash),
  constraint wfg_tokens_name_key UNIQUE (name),
  constraint wfg_tokens_pkey PRIMARY KEY (id)
);
comment on column wfg_tokens.hash is 'SHA-256 of the token';
comment on column wfg_tokens.last_used_at is 'to the minute, and not through sessions';

create table wfg_workers (
  worker_id text not null,
  instance uuid,
  registered_at timestamp with time zone default wfg_now() not null,
  last_heartbeat timestamp with time zone default wfg_now() not null,
  concurrency integer not null,
  draining boolean default false not null,
  labels text[] default '{}'::text[] not null,
  handlers text[] default '{}'::text[] not null,
  version text default ''::text not null,
  host text default ''::text not null,
  tasks text[] default '{}'::text[] not null,
  handler_concurrency integer,
  modules json default '[]'::json not null,
  problem text,
  offered text[] generated always as (wfg_offered(labels, handlers, tasks)) stored not null,
  hot text[] default '{}'::text[] not null,
  hot_until timestamp with time zone,
  full_of text[] default '{}'::text[] not null,
  constraint wfg_workers_concurrency_check CHECK (concurrency >= 1),
  constraint wfg_workers_handler_concurrency_check CHECK (handler_concurrency >= 1),
  constraint wfg_workers_pkey PRIMARY KEY (worker_id),
  constraint wfg_workers_worker_id_check CHECK (worker_id ~ '^[A-Za-z0-9_.:-]{1,255}$'::text)
) with (
  fillfactor=50
);
comment on column wfg_workers.concurrency is 'commands at once; of a worker over HTTP, jobs of any kind';
comment on column wfg_workers.full_of is 'kinds whose places are all taken; it looks by itself when one is free';
comment on column wfg_workers.handler_concurrency is 'handlers at once, of each module; null: over HTTP, or not told (an older version)';
comment on column wfg_workers.hot is 'kinds for which it looks every 20 ms by itself, until hot_until';
comment on column wfg_workers.modules is 'of each loaded module the labels of what it handles, as ":event a"';
comment on column wfg_workers.offered is 'all that a job may require for this worker to take it; a job requires one kind, as ":event a"';
comment on column wfg_workers.problem is 'why it cannot run what it should, by its last beat; null when it can';

create table wfg_workflows (
  id text not null,
  name text not null,
  trigger text not null,
  definition json not null,
  source text not null,
  file_hash text,
  created_at timestamp with time zone default wfg_now() not null,
  updated_at timestamp with time zone default wfg_now() not null,
  constraint wfg_workflows_check CHECK ((file_hash IS NOT NULL) = (source = 'file'::text)),
  constraint wfg_workflows_id_check CHECK (id ~ '^[A-Za-z0-9_.-]{1,255}$'::text),
  constraint wfg_workflows_pkey PRIMARY KEY (id),
  constraint wfg_workflows_source_check CHECK (source = ANY (ARRAY['api'::text, 'file'::text]))
);
CREATE INDEX wfg_workflows_newest ON wfg_workflows USING btree (created_at DESC, id);

create view pg_task as
 SELECT run_id AS id,
    wfg_step_text(payload) AS step,
    run_at AS wakeup_at,
        CASE
            WHEN state = 'active'::text THEN tries - 1
            ELSE tries
        END AS tried,
    state = 'active'::text AS is_running,
        CASE
            WHEN state = 'failed'::text THEN COALESCE(error, 'failed'::text)
            ELSE NULL::text
        END AS error,
    created_at,
    updated_at
   FROM wfg_jobs
  WHERE "position" = 0 AND kind = 'task'::text AND (state = ANY (ARRAY['pending'::text, 'active'::text, 'failed'::text])) AND cancel_requested_at IS NULL;
CREATE TRIGGER wfg_delete INSTEAD OF DELETE ON pg_task FOR EACH ROW EXECUTE FUNCTION wfg_pg_task_delete();
CREATE TRIGGER wfg_insert INSTEAD OF INSERT ON pg_task FOR EACH ROW EXECUTE FUNCTION wfg_pg_task_insert();
CREATE TRIGGER wfg_update INSTEAD OF UPDATE ON pg_task FOR EACH ROW EXECUTE FUNCTION wfg_pg_task_update();
comment on view pg_task is 'tasks that wait, run or have stopped; insert starts one, set error = null resumes, delete cancels; left alone and not counted is a row that stopped, was resumed or, but for a delete, went on to another step while the statement waited for it, and one that runs when only its wakeup_at or tried is set';

create view wfg_artifacts as
 SELECT run_id,
    workflow_id,
    job_id,
    outputs
   FROM wfg_jobs
  WHERE state = 'completed'::text
UNION ALL
 SELECT run_id,
    workflow_id,
    job_id,
    outputs
   FROM wfg_history
  WHERE state = 'completed'::text;

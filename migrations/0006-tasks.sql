-- Tasks: standalone jobs that go from step to step.
--
-- A task's payload is its whole step, `{"<Task>":{"<Step>":<state>}}`, as it was written; what cannot be decoded is kept
-- as a JSON string. `workflow_type` is the task's name and `step` the step's; both are made from the payload.

alter table wfg_jobs add column step text,
  add constraint only_task_has_step check (step is null or kind = 'task');
alter table wfg_history add column step text;
alter table wfg_attempts add column step text;
comment on column wfg_jobs.step is 'of a task: the step that comes next, or that it stopped at; null when undecodable';

alter table wfg_workers add column tasks text[] not null default '{}';

-- One row a handler of events (step '') or a step of a task.
alter table wfg_handlers
  drop constraint wfg_handlers_pkey,
  add column kind text not null default 'event' check (kind in ('event', 'task')),
  add column step text not null default '' check ((kind = 'task') = (step <> '')),
  add column max_attempts int check (max_attempts >= 1),
  add primary key (kind, workflow_type, step);
alter table wfg_handlers alter column kind drop default, alter column step drop default;
comment on column wfg_handlers.max_attempts is 'of a step: its tries; null for events, which bring their own';

create index wfg_jobs_tasks on wfg_jobs (run_id) where position = 0 and kind = 'task';

-- What a step says of itself, or (fault) why nobody can execute it. A task that no worker has declared yet may have any
-- step: it waits.
create function wfg_decode_step(text text, out task text, out step text, out fault text)
language plpgsql stable set search_path from current as $$
declare
  value json; state json;
begin
  begin
    value := text::json;
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
  if step is null or step = '' or not wfg_is_printable(task) then
    fault := 'the step is not {"<Task>":{"<Step>":<state>}}';
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
$$;

-- The text of a task's step, from its payload.
create function wfg_step_text(payload json) returns text language sql immutable parallel safe as $$
  select case when json_typeof(payload) = 'string' then payload #>> '{}' else payload::text end
$$;

-- A step's text as a payload; `step` is what was decoded from it, null if nothing was.
create function wfg_step_payload(text text, step text) returns json language sql immutable parallel safe as $$
  select case when step is null then to_json(text) else text::json end
$$;

create function wfg_task_labels(task text) returns text[] language sql immutable parallel safe as $$
  select array[':task ' || coalesce(task, '')]
$$;

create function wfg_step_attempts(task text, step text) returns int language sql stable set search_path from current as $$
  select coalesce((
    select h.max_attempts from wfg_handlers h
    where h.kind = 'task' and h.workflow_type = task and h.step = wfg_step_attempts.step), 1)
$$;

-- The time, which must be one that every program can read.
create function wfg_check_time(name text, at timestamptz) returns timestamptz language plpgsql stable as $$
begin
  if at not between '0001-01-01 00:00+00' and '9999-12-31 00:00+00' then
    raise exception '% must be a time in the years 1 to 9999, not %', name, at
      using errcode = 'WF001', hint = 'leave it out for now';
  end if;
  return at;
end
$$;

-- Rung in the caller's transaction: the same text many times over is sent once.
create function wfg_ring_lane(lane bigint) returns void language sql volatile strict as $$
  select pg_notify('wfg_events', format('{"v":1,"lanes":{"%s":1}}', lane))
$$;

-- Makes a task; with an error, or undecodable, it is parked from the start.
create function wfg_insert_task(id uuid, step text, wakeup_at timestamptz, error text, created_at timestamptz)
returns wfg_jobs language plpgsql set search_path from current as $$
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
  if stop is null and made.run_at <= wfg_now() then perform wfg_ring_lane(made.lane); end if;
  return made;
end
$$;

-- Starts a task at a step, at once or not before a time.
create function wfg_task(step json, wakeup_at timestamptz default null) returns uuid
language plpgsql set search_path from current as $$
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
$$;

-- Moves a standalone job that is over to history, and counts it.
create function wfg_leave(run uuid) returns void language plpgsql set search_path from current as $$
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
$$;

-- Records the last attempt of a (locked) standalone job, told by its row until now, before that row says something else.
-- One that expired or was parked at birth has none; of one that was parked while it waited it is recorded already.
create function wfg_keep_attempt(job wfg_jobs) returns void language plpgsql set search_path from current as $$
declare
  today date := (wfg_now() at time zone 'utc')::date;
begin
  for try in 1..2 loop
    begin
      insert into wfg_attempts (ended_on, run_id, position, attempt, try, exit_code, log_chunks, log_lines, log_bytes, nonce,
        started_at, finished_at, outcome, worker_id, error, step)
      select today, job.run_id, 0, job.attempt, job.tries, job.exit_code, coalesce(job.log_chunks, 0),
        coalesce(job.log_lines, 0), coalesce(job.log_bytes, 0), job.nonce, job.started_at, job.finished_at, job.outcome,
        job.worker_id, job.error, job.step
      where job.attempt >= 0
        and not exists (
          select from wfg_attempts a where a.run_id = job.run_id and a.position = 0 and a.attempt = job.attempt);
      return;
    exception when check_violation then
      if try = 2 then raise; end if;
      perform wfg_ensure_partitions(today, today);
    end;
  end loop;
end
$$;

-- Makes a standalone job that failed pending again, with all its tries; returns its lane, null when it is none. A task is
-- decoded anew: one that still cannot be keeps waiting for a person, and says why.
create function wfg_revive(run uuid) returns bigint language plpgsql set search_path from current as $$
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
$$;

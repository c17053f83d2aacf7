-- Who writes to pg_task writes to what the statement saw, and text that PostgreSQL cannot read out of a step again is made
-- visible instead of parking it.

comment on view pg_task is 'tasks that wait, run or have stopped; insert starts one, set error = null resumes, delete '
  'cancels; left alone and not counted is a row that stopped, was resumed or, but for a delete, went on to another step while '
  'the statement waited for it, and one that runs when only its wakeup_at or tried is set';

-- What a step says of itself, or (fault) why nobody can execute it. A task that no worker has declared yet may have any
-- step: it waits.
create or replace function wfg_decode_step(text text, out task text, out step text, out fault text)
language plpgsql stable set search_path from current as $$
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
$$;

-- A step's text as a payload; `step` is what was decoded from it, null if nothing was.
create or replace function wfg_step_payload(text text, step text) returns json language sql immutable parallel safe as $$
  select case when step is null then to_json(text) else wfg_storable(text::json) end
$$;

-- A given id is looked for behind the insert: what had it and is over then has left wfg_jobs already, or still conflicts.
create or replace function wfg_pg_task_insert() returns trigger language plpgsql set search_path from current as $$
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
$$;

-- Locks the task; null unless its row still shows this step (null: whichever) and error. Behind a trigger on a view
-- PostgreSQL does not look at the statement's WHERE again when the lock is there, as it does for tables. A statement that
-- waited for a worker or another person may so have a row that it would not choose now: resumed, moved on to another step,
-- stopped. Such a row is skipped and not counted, as in a table under read committed: an error would make every statement
-- on many rows fail that meets a busy task.
create function wfg_hold_task(run uuid, step text, error text) returns wfg_jobs
language plpgsql set search_path from current as $$
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
$$;

-- Only what a statement changes is locked and written, so that `set error = null` for all leaves the others alone. A task
-- that runs is woken already and counts its own tries.
create or replace function wfg_pg_task_update() returns trigger language plpgsql set search_path from current as $$
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
  select * into new from pg_task t where t.id = old.id;
  return new;
end
$$;

-- One that runs is asked to stop; one that waits is cancelled; one that has stopped is discarded, as the failure it is. Who
-- cancels a task means all that is left of it, so one that goes on meanwhile is cancelled at the step that it has reached.
create or replace function wfg_pg_task_delete() returns trigger language plpgsql set search_path from current as $$
declare
  job wfg_jobs;
begin
  job := wfg_hold_task(old.id, case when old.error is not null then old.step end, old.error);
  if job.run_id is null then return null; end if;
  update wfg_jobs j
  set cancel_requested_at = wfg_now(), version = j.version + 1, updated_at = wfg_now(),
    state = case when j.state = 'pending' then 'cancelled' else j.state end,
    finished_at = case when j.state = 'active' then null else coalesce(j.finished_at, wfg_now()) end
  where j.run_id = old.id and j.position = 0;
  if job.state = 'active' then
    perform pg_notify('wfg_events', json_build_object('v', 1, 'cancel', json_build_array(old.id))::text);
  else
    perform wfg_leave(old.id);
  end if;
  return old;
end
$$;

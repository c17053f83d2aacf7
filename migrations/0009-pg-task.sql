-- pg_task, the table of that name, as a view of tasks.

do $$
begin
  if to_regclass('pg_task') is not null then
    raise exception 'there is a table pg_task already, and wfg makes a view of that name'
      using hint = 'stop its workers, rename it (alter table pg_task rename to old_pg_task), migrate again, then move its'
        ' tasks: insert into pg_task (id, step, wakeup_at, error) select id, step, wakeup_at, error from old_pg_task';
  end if;
end
$$;

-- pg_task, as its users know it. What is in it waits, runs or has stopped; a row whose task is done, cancelled or
-- discarded is gone.
create view pg_task as
select run_id as id, wfg_step_text(payload) as step, run_at as wakeup_at,
  case when state = 'active' then tries - 1 else tries end as tried,
  state = 'active' as is_running,
  case when state = 'failed' then coalesce(error, 'failed') end as error,
  created_at, updated_at
from wfg_jobs
where position = 0 and kind = 'task' and state in ('pending', 'active', 'failed') and cancel_requested_at is null;
comment on view pg_task is 'tasks that wait, run or have stopped; insert starts one, set error = null resumes, delete cancels';

create function wfg_pg_task_insert() returns trigger language plpgsql set search_path from current as $$
declare
  made wfg_jobs;
begin
  if new.is_running then
    raise exception 'a new task does not run yet: leave is_running out' using errcode = 'WF001';
  end if;
  if new.id is not null and (
    exists (select from wfg_jobs where run_id = new.id) or exists (select from wfg_runs where id = new.id)
    or exists (select from wfg_history where run_id = new.id)
  ) then
    raise unique_violation using message = format('there is, or was, a run %s already', new.id),
      hint = 'leave id out: one is made';
  end if;
  made := wfg_insert_task(new.id, new.step, new.wakeup_at, new.error, new.created_at);
  select * into new from pg_task t where t.id = made.run_id;
  return new;
end
$$;

-- Only what a statement changes is locked and written, so that `set error = null` for all leaves the others alone. What
-- moved on since the statement began is judged by what it is now.
create function wfg_pg_task_update() returns trigger language plpgsql set search_path from current as $$
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
  select * into job from wfg_jobs j where j.run_id = old.id and j.position = 0 for update;
  if not found or job.cancel_requested_at is not null then return null; end if;
  if job.state = 'active' then
    -- One whose error was cleared by somebody else may run already.
    if new.step is distinct from old.step or (new.error is distinct from old.error and new.error is not null) then
      raise exception 'task % is running and cannot be edited', old.id using errcode = 'WF005',
        hint = 'wait until its step has ended, or delete its row to cancel it';
    end if;
    select * into new from pg_task t where t.id = old.id;
    return new;
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
    -- Does nothing if somebody else has cleared it meanwhile.
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

-- One that runs is asked to stop; one that waits is cancelled; one that has stopped is discarded, as the failure it is.
create function wfg_pg_task_delete() returns trigger language plpgsql set search_path from current as $$
declare
  job wfg_jobs;
begin
  select * into job from wfg_jobs j where j.run_id = old.id and j.position = 0 for update;
  if not found or job.cancel_requested_at is not null then return null; end if;
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

create trigger wfg_insert instead of insert on pg_task for each row execute function wfg_pg_task_insert();
create trigger wfg_update instead of update on pg_task for each row execute function wfg_pg_task_update();
create trigger wfg_delete instead of delete on pg_task for each row execute function wfg_pg_task_delete();

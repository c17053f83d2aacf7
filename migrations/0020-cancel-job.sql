-- One way to cancel one job, for HTTP and for SQL; and who follows a task hears what is done to its row.

-- Cancels one job, of a graph or standalone: one that waits ends at once, one that runs is asked to stop. Returns the state
-- it is in now, null when there is no such job that could be cancelled. The run's row is locked first (a standalone job
-- has none), then the job's, as everywhere, and both before the job is judged: a statement that has waited for a lock
-- itself decides by the row as it is now, but has the row's CHECKs tested on what it would make of the row as it was. The
-- run is not told: a scheduler settles the job. Nothing is rung: that is for whoever asks.
create function wfg_cancel_job(run uuid, job text) returns text language plpgsql set search_path from current as $$
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
$$;

-- The same, told to those whom it concerns. Of a job of a graph that has ended a scheduler tells, when it has settled it.
create or replace function wfg_cancel(run uuid, job text) returns void language plpgsql set search_path from current as $$
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
$$;

-- What waits or runs is cancelled; one that has stopped is discarded, as the failure it is. Who cancels a task means all
-- that is left of it, so one that goes on meanwhile is cancelled at the step that it has reached.
create or replace function wfg_pg_task_delete() returns trigger language plpgsql set search_path from current as $$
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
  perform wfg_ring_run(job.run_id);
  select * into new from pg_task t where t.id = old.id;
  return new;
end
$$;

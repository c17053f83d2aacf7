-- Who follows an event, a task or a job hears at once that SQL cancelled or requeued it; else it would find out by looking.

create function wfg_ring_run(run uuid) returns void language sql volatile strict as $$
  select pg_notify('wfg_events', format('{"v":1,"runs":["%s"]}', run))
$$;

-- Cancels one job: one that waits ends at once, one that runs is asked to stop. What needs it is the scheduler's.
create or replace function wfg_cancel(run uuid, job text) returns void language plpgsql set search_path from current as $$
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
    perform wfg_ring_run(run);
  elsif its.state <> 'cancelled' then
    update wfg_jobs j
    set state = 'cancelled', cancel_requested_at = coalesce(j.cancel_requested_at, wfg_now()), finished_at = wfg_now(),
      settled = j.position = 0, version = j.version + 1, updated_at = wfg_now()
    where j.run_id = run and j.position = its.position;
    if its.position = 0 then
      perform wfg_leave(run);
      perform wfg_ring_run(run);
    else
      -- The scheduler rings for the run.
      perform wfg_ring_settle();
    end if;
  end if;
end
$$;

-- Makes a dead letter pending again, with all its tries.
create or replace function wfg_requeue(run uuid, job text) returns void language plpgsql set search_path from current as $$
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
  perform wfg_ring_run(run);
end
$$;

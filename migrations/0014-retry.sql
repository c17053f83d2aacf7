-- Retry of a job in a run that goes on, from SQL as from everywhere: the function gives that one job back, and names it
-- on its run's row; a scheduler then lets wait again what was skipped because of it.

alter table wfg_runs add column retried int[];
comment on column wfg_runs.retried is 'positions of jobs that were given back and that no scheduler has looked at since';

-- Records the last attempt of a (locked) job, told by its row until now, before that row says something else. One that
-- never began has none; of one that was given back or parked while it waited it is recorded already.
create or replace function wfg_keep_attempt(job wfg_jobs) returns void language plpgsql set search_path from current as $$
declare
  today date := (wfg_now() at time zone 'utc')::date;
begin
  for try in 1..2 loop
    begin
      insert into wfg_attempts (ended_on, run_id, position, attempt, try, exit_code, log_chunks, log_lines, log_bytes, nonce,
        started_at, finished_at, outcome, worker_id, error, step)
      select today, job.run_id, job.position, job.attempt, job.tries, job.exit_code, coalesce(job.log_chunks, 0),
        coalesce(job.log_lines, 0), coalesce(job.log_bytes, 0), job.nonce, job.started_at, job.finished_at, job.outcome,
        job.worker_id, job.error, job.step
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
$$;

-- Gives a job of a workflow's run back, with all its tries. Only the run's row and the job's are changed: whether it can
-- run at once, and what waits for it again, is the scheduler's.
create function wfg_retry(run uuid, job text) returns void language plpgsql set search_path from current as $$
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
$$;

-- Runs again what failed, with all its tries: a dead letter, or a job of a run that goes on.
create or replace function wfg_requeue(run uuid, job text) returns void language plpgsql set search_path from current as $$
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
$$;

create or replace function wfg_requeue(run uuid) returns void language plpgsql set search_path from current as $$
begin
  if exists (select from wfg_runs r where r.id = run) then
    raise exception 'run % is one of a workflow: which of its jobs?', run using errcode = 'WF003',
      hint = 'wfg_requeue(run, job) while it goes on; afterwards start it again by wfg_run or wfg_submit';
  end if;
  perform wfg_requeue(run, 'main');
end
$$;

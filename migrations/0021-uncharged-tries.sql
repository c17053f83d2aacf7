-- An attempt that is not charged gives its try back also where it was the last.

comment on column wfg_jobs.tries is 'attempts that count against max_attempts, and the one that runs';

-- Which try a job's last attempt was, which its row tells of since it ended: by the number that it had while it ran. A
-- handler's or a step's lost lease is not charged, so the next attempt would have had that number again.
create function wfg_last_try(tries int, kind text, outcome text) returns int language sql immutable parallel safe as $$
  select case when outcome = 'lost' and kind <> 'command' then tries + 1 else tries end
$$;

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
$$;

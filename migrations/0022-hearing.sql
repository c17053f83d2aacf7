-- Who has to be woken for a job, so that an enqueue in somebody's own transaction rings only if it must: commits with a
-- NOTIFY wait for each other.

create function wfg_offered(labels text[], handlers text[], tasks text[]) returns text[]
language sql immutable parallel safe as $$
  select labels || array[':command'] || array(select ':event ' || h.type from unnest(handlers) as h (type))
    || array(select ':task ' || t.name from unnest(tasks) as t (name))
$$;

alter table wfg_workers
  add column offered text[] not null generated always as (wfg_offered(labels, handlers, tasks)) stored,
  add column hot text[] not null default '{}',
  add column hot_until timestamptz,
  add column full_of text[] not null default '{}',
  -- Some of these rows are written each second, and all are read by each enqueue.
  set (fillfactor = 50);
comment on column wfg_workers.offered is 'all that a job may require for this worker to take it; a job requires one kind, as ":event a"';
comment on column wfg_workers.hot is 'kinds for which it looks every 20 ms by itself, until hot_until';
comment on column wfg_workers.full_of is 'kinds whose places are all taken; it looks by itself when one is free';

-- Whether a worker must be told of a job with these labels that is due: some live one can take it, and none of those looks
-- by itself. Nothing is locked. In a long transaction wfg_now() is its start.
create function wfg_must_ring(required text[]) returns boolean language plpgsql stable set search_path from current as $$
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
$$;

-- Rings for a job in the caller's transaction, if it must be. A transaction that enqueues many rings for the 1st, 2nd, 4th,
-- 8th and so on, for as many as came since: the more there are, the more workers look.
create function wfg_ring_lane(lane bigint, required text[]) returns void language plpgsql set search_path from current as $$
declare
  before text[] := string_to_array(current_setting('wfg.rung', true), ' ');
  nth int := case when before[1] = lane::text then before[2]::int + 1 else 1 end;
begin
  perform set_config('wfg.rung', format('%s %s', lane, nth), true);
  if nth & (nth - 1) <> 0 or not wfg_must_ring(required) then return; end if;
  perform pg_notify('wfg_events', format(
    -- Too long to be told: everyone looks.
    case when octet_length(to_json(required)::text) > 5000 then '{"v":1,"lanes":{"%1$s":%2$s}}'
    else '{"v":1,"lanes":{"%1$s":%2$s},"requires":{"%1$s":%3$s},"nonce":%4$s}' end,
    lane, greatest(nth / 2, 1), to_json(required), hashtext(pg_current_xact_id()::text) & 2147483647));
end
$$;

-- For the rare ones: what is requeued, retried, or edited.
create or replace function wfg_ring_lane(lane bigint) returns void language plpgsql strict set search_path from current as $$
declare
  required text[];
begin
  select j.required_labels into required from wfg_jobs j
  where j.state = 'pending' and j.lane = wfg_ring_lane.lane order by j.run_at limit 1;
  if found then perform wfg_ring_lane(lane, required); end if;
end
$$;

-- As before, but for the last lines.
create or replace function wfg_enqueue(workflow_type text, payload json default '{}', max_attempts int default 3,
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
  if run_at is null or run_at <= wfg_now() then perform wfg_ring_lane(lane, array[':event ' || workflow_type]); end if;
  return made;
end
$$;

create or replace function wfg_insert_task(id uuid, step text, wakeup_at timestamptz, error text, created_at timestamptz)
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
  if stop is null and made.run_at <= wfg_now() then perform wfg_ring_lane(made.lane, made.required_labels); end if;
  return made;
end
$$;

-- Whether to ring is asked in every transaction that enqueues: of what that cost, entering a function with a search path of
-- its own was a third. These two are called by functions that have set it.

create or replace function wfg_must_ring(required text[]) returns boolean language plpgsql stable as $$
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

-- As before, but it counts only where somebody must be told.
create or replace function wfg_ring_lane(lane bigint, required text[]) returns void language plpgsql as $$
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
$$;

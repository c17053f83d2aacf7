-- Keys, by which something is made once however often it is asked for; what makes and changes things from SQL.

-- A key and what was made with it are written in one transaction. While that goes on, whoever comes with the same key
-- waits for it to end, and nobody else does.
create table wfg_keys (
  scope text not null,
  key text not null,
  body_hash bytea,
  subject text,
  status int,
  created_at timestamptz not null default wfg_now(),
  expires_at timestamptz not null,
  until_ended boolean not null default false,
  primary key (scope, key)
);
comment on column wfg_keys.scope is 'method and path of a route, the name of a SQL function, or `unique <workflow_type>`';
comment on column wfg_keys.body_hash is 'what was asked for; another body under the same key is refused';
comment on column wfg_keys.subject is 'what was made: a run, a workflow, a lease; null only inside the transaction that makes it';
comment on column wfg_keys.status is 'the first answer''s, over HTTP';
comment on column wfg_keys.until_ended is 'it holds as long as its standalone job is live; expires_at is when to see whether it is';
create index wfg_keys_expiring on wfg_keys (expires_at);

-- Whether a key still holds. Until it ended, a job is live: pending, active or a dead letter.
create function wfg_key_holds(held wfg_keys) returns boolean language plpgsql stable set search_path from current as $$
begin
  if not held.until_ended then return held.expires_at > wfg_now(); end if;
  return exists (select from wfg_jobs j where j.run_id = held.subject::uuid and j.position = 0);
end
$$;

-- Takes a key in the caller's transaction: null, or the one that holds already. The insert waits for a twin in flight;
-- what it left is then read by statements of their own, which see it. A key that does not hold any more is replaced, by
-- the first who finds it so.
create function wfg_take_key(scope text, key text, body_hash bytea, subject text,
  expires_at timestamptz default null, until_ended boolean default false)
returns wfg_keys language plpgsql set search_path from current as $$
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
    delete from wfg_keys k where k.scope = $1 and k.key = $2 and k.subject = held.subject;
  end loop;
end
$$;

-- Removes up to so many keys that do not hold any more; those that do are looked at again in a week. Returns how many
-- were looked at.
create function wfg_prune_keys(most int) returns int language sql set search_path from current as $$
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
$$;

-- What is asked for many jobs at once and done in batches by any scheduler, and who asked for what.

create table wfg_operations (
  id uuid primary key default wfg_uuid7(),
  kind text not null check (kind = 'requeue'),
  filter json not null,
  total int not null check (total >= 0),
  done int not null default 0 check (done >= 0),
  created_at timestamptz not null default wfg_now(),
  finished_at timestamptz
);
create index wfg_operations_open on wfg_operations (id) where finished_at is null;
comment on column wfg_operations.total is 'the jobs that it was to be done for when it was asked for';

create table wfg_audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default wfg_now(),
  actor text not null,
  action text not null check (action in ('requeue all', 'requeue')),
  operation_id uuid not null,
  run_id uuid,
  detail json
);
create index wfg_audit_of_run on wfg_audit (run_id) where run_id is not null;
create index wfg_audit_at on wfg_audit (at);
comment on column wfg_audit.actor is 'by what right and from where it was asked for, or the operation that does it';

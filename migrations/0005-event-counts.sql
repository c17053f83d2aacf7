-- Reading and counting very many events.

-- Every filter of their list is judged by the index alone, and by it they are counted.
drop index wfg_jobs_standalone;
create index wfg_jobs_standalone on wfg_jobs (run_id, kind, state, tries, workflow_type) where position = 0;
create index wfg_history_uncompleted on wfg_history (run_id) where position = 0 and state <> 'completed';

-- What the reaper counted last; used when the jobs are too many to be counted for each reader.
drop table wfg_event_counts;
create table wfg_counts (
  one boolean primary key default true check (one),
  counted_at timestamptz not null,
  counts json not null
);

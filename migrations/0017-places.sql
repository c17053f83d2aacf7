-- What a worker can run at once, so that a job that waits for a place can say so.

alter table wfg_workers
  add column handler_concurrency int check (handler_concurrency >= 1),
  add column modules json not null default '[]';
comment on column wfg_workers.concurrency is 'commands at once; of a worker over HTTP, jobs of any kind';
comment on column wfg_workers.handler_concurrency is 'handlers at once, of each module; null: over HTTP, or not told (an older version)';
comment on column wfg_workers.modules is 'of each loaded module the labels of what it handles, as ":event a"';

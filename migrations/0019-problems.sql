-- What is wrong with a worker, for whoever looks at the list, and how long a run may take, which its times do not say.

alter table wfg_workers add column problem text;
comment on column wfg_workers.problem is 'why it cannot run what it should, by its last beat; null when it can';

alter table wfg_runs add column timeout_secs int;
comment on column wfg_runs.timeout_secs is 'how long it may take, from when it can begin: of one from SQL that is when it was read';

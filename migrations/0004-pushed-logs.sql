-- Logs that workers push over HTTP: their senders count chunks by numbers of their own.

alter table wfg_logs add column sender json;
comment on column wfg_logs.sender is
  'on the last row of a push: the sender''s number of the chunk that comes next, the lines that were sent in part, whether the limit is reached';

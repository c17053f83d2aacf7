// Which backoff a job has.

/**
 * As SQL: the job's own (`l`), else what its handler (`h`, of wfg_handlers) declares, else, for events, one second
 * doubling up to sixty; none for commands.
 */
export const BACKOFF = `coalesce(l.backoff, h.backoff,
      case when l.kind = 'event' then '{"Exponential":{"base_secs":1,"max_secs":60}}'::json end)`;

// What a job has from its handler's declaration, as SQL: `l` is the job, `h` its row of wfg_handlers, joined by DECLARED.

/** The declaration of the job's handler, or of its step. */
export const DECLARED = `h.kind = l.kind and h.workflow_type = l.workflow_type and h.step = coalesce(l.step, '')`;

/** The job's own backoff, else what is declared, else, for events, one second doubling up to sixty; none for commands. */
export const BACKOFF = `coalesce(l.backoff, h.backoff,
      case when l.kind = 'event' then '{"Exponential":{"base_secs":1,"max_secs":60}}'::json end)`;

/** How many tries there are: a step has its own, an event brings its. */
export const BUDGET = `coalesce(h.max_attempts, l.max_attempts)`;

/**
 * Whether some worker that lives has declared it: it would do so every ten minutes, and may have been away from the
 * database.
 */
export const IS_SERVED = `coalesce(h.declared_at > wfg_now() - interval '30 minutes', false)`;

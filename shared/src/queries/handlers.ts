// What loaded handlers declare about their types, and tasks about their steps.
import type { Backoff } from '../contract/backoff.ts';
import type { Queryable } from '../db/pool.ts';

export interface Declaration {
  kind: 'event' | 'task';
  /** The type, or the task's name. */
  workflow_type: string;
  /** Empty for events. */
  step: string;
  /** Of a step: how often it is tried; null for events, which bring their own. */
  max_attempts: number | null;
  /** Null: the backoff of events that declare none. */
  backoff: Backoff | null;
  /** Null: no limit. */
  timeout_secs: number | null;
}

/** How long a declaration is kept that nobody repeats. */
const KEPT_HOURS = 24;

// Locked in the order of the keys, so that two hosts which start at once do not wait for each other in a circle. What
// the module does not have is left alone: another version of it, on another worker, may.
const DECLARE = `
insert into wfg_handlers (kind, workflow_type, step, max_attempts, backoff, timeout_secs)
select kind, workflow_type, step, max_attempts, backoff, timeout_secs
from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::json[], $6::int[])
  as d (kind, workflow_type, step, max_attempts, backoff, timeout_secs)
order by kind, workflow_type, step
on conflict (kind, workflow_type, step) do update
set max_attempts = excluded.max_attempts, backoff = excluded.backoff, timeout_secs = excluded.timeout_secs,
    declared_at = wfg_now()`;

/**
 * Stores what these (distinct) handlers declare, in place of what was declared for the same before. Repeat it while they
 * live: a declaration of which nothing is heard for a day is forgotten.
 */
export async function declareHandlers(db: Queryable, declarations: readonly Declaration[]): Promise<void> {
  await db.query(DECLARE, [
    declarations.map((one) => one.kind),
    declarations.map((one) => one.workflow_type),
    declarations.map((one) => one.step),
    declarations.map((one) => one.max_attempts),
    declarations.map((one) => (one.backoff === null ? null : JSON.stringify(one.backoff))),
    declarations.map((one) => one.timeout_secs),
  ]);
}

// What is locked is being declared. Skipping it also keeps this out of any circle of those who wait.
const FORGET = `
delete from wfg_handlers h
using (
  select kind, workflow_type, step from wfg_handlers
  where declared_at < wfg_now() - make_interval(hours => ${KEPT_HOURS})
  for update skip locked
) old
where h.kind = old.kind and h.workflow_type = old.workflow_type and h.step = old.step`;

/** Forgets what no handler that lives declares any more. */
export async function forgetDeclarations(db: Queryable): Promise<void> {
  await db.query(FORGET);
}

// What loaded handlers declare about their types.
import type { Backoff } from '../contract/backoff.ts';
import type { Queryable } from '../db/pool.ts';

export interface Declaration {
  workflow_type: string;
  /** Null: the backoff of events that declare none. */
  backoff: Backoff | null;
  /** Null: no limit. */
  timeout_secs: number | null;
}

// Locked in the order of the types, so that two hosts which start at once do not wait for each other in a circle.
const DECLARE = `
insert into wfg_handlers (workflow_type, backoff, timeout_secs)
select workflow_type, backoff, timeout_secs
from unnest($1::text[], $2::json[], $3::int[]) as d (workflow_type, backoff, timeout_secs)
order by workflow_type
on conflict (workflow_type) do update
set backoff = excluded.backoff, timeout_secs = excluded.timeout_secs, declared_at = wfg_now()`;

/** Stores what the handlers of these (distinct) types declare, in place of what was declared before. */
export async function declareHandlers(db: Queryable, declarations: readonly Declaration[]): Promise<void> {
  await db.query(DECLARE, [
    declarations.map((one) => one.workflow_type),
    declarations.map((one) => (one.backoff === null ? null : JSON.stringify(one.backoff))),
    declarations.map((one) => one.timeout_secs),
  ]);
}

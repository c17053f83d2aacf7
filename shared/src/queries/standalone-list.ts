// Lists standalone jobs as the runs that they are, the newest first.
import type { RunStatus, RunSummary } from '../contract/run.ts';
import type { Queryable } from '../db/pool.ts';
import { type JobRow, jobColumns } from './job-row.ts';
import type { RunFilter } from './run-list.ts';
import { toStandaloneSummary } from './run-row.ts';

/** What a status means in the row: the states, whether a cancel was asked for, whether it has begun. */
const MEANING: Record<RunStatus, [states: string[], cancelling: boolean | null, begun: boolean | null]> = {
  pending: [['pending'], null, false],
  running: [['pending', 'active'], false, true],
  cancelling: [['active'], true, null],
  completed: [['completed'], null, null],
  failed: [['failed'], null, null],
  cancelled: [['cancelled'], null, null],
};

// The filters are planned with their values, as in run-list.ts.
const of = (table: 'wfg_jobs' | 'wfg_history') => `(
  select ${jobColumns('j')}, j.payload from ${table} j
  where j.position = 0
    and ($1::text[] is null or j.state = any($1))
    and ($2::boolean is null or (j.cancel_requested_at is not null) = $2)
    and ($3::boolean is null or (j.begun_at is not null) = $3)
    and ($4::timestamptz is null or j.created_at >= $4)
    and ($5::timestamptz is null or j.created_at < $5)
    and ($6::uuid is null or j.run_id < $6)
    and ($7::text is null or j.workflow_type = $7)
    and ($8::text is null or $8 = any(j.required_labels))
  order by j.run_id desc
  limit $9::int)`;

// One statement is one snapshot: what moves to history meanwhile is in the one table or in the other.
const LIST = `
select * from (${of('wfg_jobs')} union all ${of('wfg_history')}) standalone
order by run_id desc
limit $9::int`;

/** Standalone jobs, live and ended. */
export async function listStandalone(db: Queryable, filter: RunFilter): Promise<RunSummary[]> {
  const { status, since, until, before, workflow_type, label, limit } = filter;
  const meaning = status === undefined ? [null, null, null] : MEANING[status];
  const { rows } = await db.query<JobRow & { payload: unknown }>(LIST, [
    ...meaning,
    since,
    until,
    before,
    workflow_type,
    label,
    limit,
  ]);
  return rows.map(toStandaloneSummary);
}

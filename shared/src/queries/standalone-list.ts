// Lists standalone jobs as the runs that they are, the newest first.
import type { RunStatus, RunSummary } from '../contract/run.ts';
import type { Queryable } from '../db/pool.ts';
import { type JobRow, jobColumns } from './job-row.ts';
import { bytesBefore, PAGE_BYTES } from './page-bytes.ts';
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
    and ($10::uuid is null or j.run_id >= $10)
    and ($11::text is null or j.kind = $11)
    and ($12::text is null or position(lower($12) in lower(j.name)) > 0 or starts_with(j.run_id::text, lower($12)))
  order by j.run_id desc
  limit $9::int)`;

// One statement is one snapshot: what moves to history meanwhile is in the one table or in the other.
const LIST = `
select * from (
  select standalone.*, count(*) over ()::int as found, ${bytesBefore('standalone')} as bytes_before
  from (
    ${of('wfg_jobs')} union all ${of('wfg_history')}
    order by run_id desc
    limit $9::int
  ) standalone
) page
where bytes_before < ${PAGE_BYTES}
order by run_id desc`;

type Row = JobRow & { payload: unknown; found: number };

interface StandalonePage {
  runs: RunSummary[];
  /** There are more within the limit: those listed have large payloads. */
  isCut: boolean;
}

/** Standalone jobs, live and ended: `limit` of them, or fewer when their payloads are large. */
export async function listStandalone(db: Queryable, filter: RunFilter): Promise<StandalonePage> {
  const { status, kind, since, until, before, floor, workflow_type, label, text, limit } = filter;
  const meaning = status === undefined ? [null, null, null] : MEANING[status];
  const { rows } = await db.query<Row>(LIST, [
    ...meaning,
    since,
    until,
    before,
    workflow_type,
    label,
    limit,
    floor,
    kind,
    text,
  ]);
  return { runs: rows.map(toStandaloneSummary), isCut: (rows[0]?.found ?? 0) > rows.length };
}

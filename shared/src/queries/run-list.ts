// Lists runs, the newest first, a page at a time.
import type { RunStatus, RunSummary } from '../contract/run.ts';
import type { Queryable } from '../db/pool.ts';
import { MOVED_ON, RUN_COLUMNS, type RunRow, toRunSummary } from './run-row.ts';

export interface RunFilter {
  workflowId?: string | undefined;
  status?: RunStatus | undefined;
  /** Made at or after this time. */
  since?: Date | undefined;
  /** Made before this time. */
  until?: Date | undefined;
  /** Runs behind this one. */
  before?: string | undefined;
  limit: number;
}

const BEGUN = 'exists (select from wfg_jobs j where j.run_id = r.id and j.started_at is not null)';
const STATUS: Record<RunStatus, string> = {
  pending: `r.state = 'open' and r.cancel_requested_at is null and not ${BEGUN}`,
  running: `r.state = 'open' and r.cancel_requested_at is null and ${BEGUN}`,
  cancelling: `r.state = 'open' and r.cancel_requested_at is not null`,
  completed: `r.state = 'completed'`,
  failed: `r.state = 'failed'`,
  cancelled: `r.state = 'cancelled'`,
};

/** The statement has only the conditions that are asked for, so that each mix of filters gets a plan of its own. */
function listQuery({ workflowId, status, since, until, before, limit }: RunFilter) {
  const values: unknown[] = [];
  const given = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['true'];
  if (workflowId !== undefined) conditions.push(`r.workflow_id = ${given(workflowId)}::text`);
  if (status !== undefined) conditions.push(STATUS[status]);
  if (since !== undefined) conditions.push(`r.created_at >= ${given(since)}::timestamptz`);
  if (until !== undefined) conditions.push(`r.created_at < ${given(until)}::timestamptz`);
  if (before !== undefined) conditions.push(`r.id < ${given(before)}::uuid`);
  const text = `
with page as (
  select ${RUN_COLUMNS} from wfg_runs r
  where ${conditions.join('\n    and ')}
  order by r.id desc
  limit ${given(limit)}::int
)
select to_json(r) as run, jobs.versions, jobs.started_at
from page r
cross join lateral (
  select coalesce(sum(job.version), 0) as versions, min(job.started_at) as started_at
  from (
    select j.version, j.started_at from wfg_jobs j where j.run_id = r.id
    union all
    select h.version, h.started_at from wfg_history h where h.run_id = r.id and h.moved_on = ${MOVED_ON}
  ) job
) jobs
order by r.id desc`;
  return { text, values };
}

interface Row {
  run: RunRow;
  versions: number;
  started_at: Date | null;
}

/** Runs without their jobs. */
export async function listRuns(db: Queryable, filter: RunFilter): Promise<RunSummary[]> {
  const { rows } = await db.query<Row>(listQuery(filter));
  return rows.map(({ run, versions, started_at }) => toRunSummary(run, { versions, started_at }));
}

const LATEST = 'select id from wfg_runs where workflow_id = $1::text order by id desc limit 1';

/** The id of the workflow's latest run; null when it never ran. */
export async function readLatestRun(db: Queryable, workflowId: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(LATEST, [workflowId]);
  return rows[0]?.id ?? null;
}

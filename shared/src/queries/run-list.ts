// Lists runs, the newest first, a page at a time.
import type { RunStatus, RunSummary } from '../contract/run.ts';
import type { Queryable } from '../db/pool.ts';
import { RUN_COLUMNS, type RunRow, toRunSummary } from './run-row.ts';

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

/** What a status means in the rows: the state, whether a cancel was asked for, whether any job has begun. */
const MEANING: Record<
  RunStatus,
  [state: RunRow['state'], cancelling: boolean | null, begun: boolean | null]
> = {
  pending: ['open', false, false],
  running: ['open', false, true],
  cancelling: ['open', true, null],
  completed: ['completed', null, null],
  failed: ['failed', null, null],
  cancelled: ['cancelled', null, null],
};

// A filter that is not given is null. Each call is planned with its values, so `null is null or …` falls away and
// every mix of filters gets the plan that suits it.
const LIST = `
with page as (
  select ${RUN_COLUMNS} from wfg_runs r
  where ($1::text is null or r.workflow_id = $1)
    and ($2::text is null or r.state = $2)
    and ($3::boolean is null or (r.cancel_requested_at is not null) = $3)
    and ($4::boolean is null
      or exists (select from wfg_jobs j where j.run_id = r.id and j.begun_at is not null) = $4)
    and ($5::timestamptz is null or r.created_at >= $5)
    and ($6::timestamptz is null or r.created_at < $6)
    and ($7::uuid is null or r.id < $7)
  order by r.id desc
  limit $8::int
)
select to_json(r) as run, jobs.versions, jobs.started_at
from page r
cross join lateral (
  select coalesce(sum(j.version), 0) as versions, min(j.begun_at) as started_at
  from wfg_jobs j where j.run_id = r.id
) jobs
order by r.id desc`;

interface Row {
  run: RunRow;
  versions: number;
  started_at: Date | null;
}

/** Runs without their jobs. */
export async function listRuns(db: Queryable, filter: RunFilter): Promise<RunSummary[]> {
  const { workflowId, status, since, until, before, limit } = filter;
  const meaning = status === undefined ? [null, null, null] : MEANING[status];
  const { rows } = await db.query<Row>(LIST, [workflowId, ...meaning, since, until, before, limit]);
  return rows.map(({ run, versions, started_at }) => toRunSummary(run, { versions, started_at }));
}

const LATEST = 'select id from wfg_runs where workflow_id = $1::text order by id desc limit 1';

/** The id of the workflow's latest run; null when it never ran. */
export async function readLatestRun(db: Queryable, workflowId: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(LATEST, [workflowId]);
  return rows[0]?.id ?? null;
}

// Definitions with the states of their latest run, as workflow-graph shows them.
import type { Definition, WorkflowView } from '../contract/workflow.ts';
import type { Queryable } from '../db/pool.ts';
import { type LatestState, toWorkflowView } from '../rules/graph-view.ts';
import { MOVED_ON } from './run-row.ts';
import type { JobState } from '../contract/job.ts';

const JOB_COLUMNS = 'job_id, state, attempt, started_at, finished_at, error';

// The latest run is the one of the greatest id: ids grow with time.
const LATEST = `
left join lateral (
  select r.id, r.finished_at from wfg_runs r where r.workflow_id = w.id order by r.id desc limit 1
) r on true
left join lateral (
  select json_agg(json_build_object('job_id', job.job_id, 'state', job.state, 'attempt', job.attempt,
    'started_ms', floor(extract(epoch from job.started_at) * 1000),
    'finished_ms', floor(extract(epoch from job.finished_at) * 1000),
    'error', case when job.state = 'failed' then job.error end)) as latest
  from (
    select ${JOB_COLUMNS} from wfg_jobs j where j.run_id = r.id
    union all
    select ${JOB_COLUMNS} from wfg_history h where h.run_id = r.id and h.moved_on = ${MOVED_ON}
  ) job
) jobs on true`;

const READ = `
select w.id, w.definition, jobs.latest from wfg_workflows w ${LATEST} where w.id = $1::text`;

const LIST = `
select w.id, w.definition, jobs.latest from wfg_workflows w ${LATEST}
where $1::text[] is null or exists (
  select from json_array_elements(w.definition -> 'jobs') as defined
  left join json_to_recordset(jobs.latest) as l (job_id text, state text) on l.job_id = defined ->> 'id'
  where coalesce(l.state, 'pending') = any($1::text[]))
order by w.created_at desc, w.id
limit $2::int offset $3::int`;

interface Row {
  id: string;
  definition: Definition;
  latest: (LatestState & { job_id: string })[] | null;
}

/** One workflow; null when there is none of that id. */
export async function readWorkflow(db: Queryable, id: string): Promise<WorkflowView | null> {
  const { rows } = await db.query<Row>(READ, [id]);
  return rows[0] ? toView(rows[0]) : null;
}

export interface WorkflowFilter {
  /** Only workflows in which a job has one of these states; null for all. */
  states: readonly JobState[] | null;
  limit: number;
  offset: number;
}

/** Workflows, the newest first. */
export async function listWorkflows(
  db: Queryable,
  { states, limit, offset }: WorkflowFilter,
): Promise<WorkflowView[]> {
  const { rows } = await db.query<Row>(LIST, [states, limit, offset]);
  return rows.map(toView);
}

function toView({ id, definition, latest }: Row): WorkflowView {
  return toWorkflowView(id, definition, new Map(latest?.map((job) => [job.job_id, job])));
}

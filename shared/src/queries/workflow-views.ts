// Definitions with the states of their latest run, as workflow-graph shows them.
import { Definition } from '../contract/definition.ts';
import type { WorkflowView } from '../contract/workflow.ts';
import type { Queryable } from '../db/pool.ts';
import { type LatestState, toWorkflowView } from '../rules/graph-view.ts';
import { MOVED_ON } from './run-row.ts';
import type { JobState } from '../contract/job.ts';

/** Of the definitions in a page, and of their jobs' states. */
const PAGE_BYTES = 4 * 1024 * 1024;

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

// Row after row, each found behind the one before it: a definition may have 16 MiB, so the page ends when it has enough
// bytes as well as when it has enough rows. The one row too many tells that there is another page.
const LIST = `
with recursive page as (
  select 0 as rows, 0::bigint as bytes, coalesce($1::timestamptz, 'infinity') as created_at, coalesce($2::text, '') as id,
    null::json as definition, null::json as latest
  union all
  select p.rows + 1, p.bytes + octet_length(next.definition::text) + coalesce(octet_length(next.latest::text), 0),
    next.created_at, next.id, next.definition, next.latest
  from page p
  cross join lateral (
    select w.created_at, w.id, w.definition, jobs.latest
    from wfg_workflows w ${LATEST}
    where w.created_at <= p.created_at and (w.created_at < p.created_at or w.id > p.id)
      and ($3::text[] is null or exists (
        select from json_array_elements(w.definition -> 'jobs') as defined
        left join json_to_recordset(jobs.latest) as l (job_id text, state text) on l.job_id = defined ->> 'id'
        where coalesce(l.state, 'pending') = any($3::text[])))
    order by w.created_at desc, w.id
    limit 1 offset case p.rows when 0 then $4::int else 0 end
  ) next
  where p.rows <= $5::int and p.bytes <= $6::int
)
select bytes, to_json(created_at) #>> '{}' as created_at, id, definition, latest from page where rows > 0 order by rows`;

interface Row {
  id: string;
  definition: unknown;
  latest: (LatestState & { job_id: string })[] | null;
}

/** One workflow; null when there is none of that id. */
export async function readWorkflow(db: Queryable, id: string): Promise<WorkflowView | null> {
  const { rows } = await db.query<Row>(READ, [id]);
  return rows[0] ? toView(rows[0]) : null;
}

/** The place of a workflow in the list. */
interface WorkflowPosition {
  /** As the database wrote it, to the microsecond. */
  created_at: string;
  id: string;
}

interface WorkflowFilter {
  /** Only workflows in which a job has one of these states; null for all. */
  states: readonly JobState[] | null;
  /** Only what is behind this place. */
  after?: WorkflowPosition | undefined;
  /** So many are passed over first. */
  offset: number;
  limit: number;
}

interface WorkflowPage {
  workflows: WorkflowView[];
  /** Behind which the next page begins; null when there is none. */
  next: WorkflowPosition | null;
}

type ListRow = Row & WorkflowPosition & { bytes: number };

/** Workflows, the newest first: `limit` of them, or fewer when they are large. */
export async function listWorkflows(db: Queryable, filter: WorkflowFilter): Promise<WorkflowPage> {
  const { states, after, offset, limit } = filter;
  const { rows } = await db.query<ListRow>(LIST, [
    after?.created_at,
    after?.id,
    states,
    offset,
    limit,
    PAGE_BYTES,
  ]);
  const page = rows.slice(0, limit).filter(({ bytes }, index) => index === 0 || bytes <= PAGE_BYTES);
  const last = page.at(-1);
  const next = last && page.length < rows.length ? { created_at: last.created_at, id: last.id } : null;
  return { workflows: page.map(toView), next };
}

function toView({ id, definition, latest }: Row): WorkflowView {
  return toWorkflowView(id, Definition.parse(definition), new Map(latest?.map((job) => [job.job_id, job])));
}

// Reads runs that were handed in by SQL, before a scheduler moves them on: their jobs get what is to be executed, and
// those that wait for nothing are released. A workflow that is refused ends its run before anything has started.
import type { Definition } from '../contract/definition.ts';
import { toStorableJson, toStorableText } from '../contract/json.ts';
import { WfgError } from '../contract/problem.ts';
import type { Queryable } from '../db/pool.ts';
import { defineWorkflow, readDefinition } from '../rules/definition.ts';
import type { Lanes } from './advance.ts';
import { jobRows } from './job-rows.ts';

/** Read in one transaction, unless the first run alone is more. */
const MOST = { jobs: 5_000, bytes: 4 * 1024 * 1024 };

const FIND = `
select id, sum(open_jobs) over before > $2::int or sum(octet_length(submitted::text)) over before > $3::int as is_later
from wfg_runs where id = any($1::uuid[]) and submitted is not null
window before as (order by id)
order by id`;

// Nothing else moves a blocked job: whoever does holds the lock on the run. One that was cancelled before stays so.
const READ = `
select r.workflow_id, r.submitted, (
    select coalesce(json_object_agg(j.job_id, j.position), '{}') from wfg_jobs j where j.run_id = r.id and j.state = 'blocked'
  ) as positions
from wfg_runs r where r.id = $1::uuid`;

interface SubmittedRow {
  workflow_id: string | null;
  submitted: unknown;
  /** Of the jobs that wait, by their ids. */
  positions: Record<string, number>;
}

export interface Accepted {
  /** Jobs that became claimable, by lane. */
  lanes: Lanes;
  /** Runs that are still to be read: nothing may be done with them before. */
  later: string[];
}

/** Reads those of the (locked) runs that no scheduler has read yet, as many as one transaction should. */
export async function acceptRuns(tx: Queryable, runs: readonly string[]): Promise<Accepted> {
  const { rows } = await tx.query<{ id: string; is_later: boolean }>(FIND, [runs, MOST.jobs, MOST.bytes]);
  const lanes: Lanes = {};
  const later = rows.filter(({ is_later }, index) => is_later && index > 0).map(({ id }) => id);
  for (const { id } of rows.slice(0, rows.length - later.length)) {
    const found = await tx.query<SubmittedRow>(READ, [id]);
    const [run] = found.rows;
    if (!run) continue;
    const defined = define(run);
    if (defined instanceof WfgError) await refuse(tx, id, defined);
    else add(lanes, await accept(tx, id, defined, new Map(Object.entries(run.positions))));
  }
  return { lanes, later };
}

function define({ workflow_id, submitted }: SubmittedRow): Definition | WfgError {
  try {
    return workflow_id === null ? defineWorkflow(submitted) : readDefinition(submitted);
  } catch (error) {
    if (error instanceof WfgError) return error;
    throw error;
  }
}

// The update's join has no other filter, nor the run's id as a constant: the planner cannot know that a run has 10,000
// jobs, nor that they are blocked, and would compare each with each.
const ACCEPT = `
with accepted as (
  update wfg_runs
  set name = $2::text, trigger = $3::text, env = $4::json, submitted = null, version = version + 1,
    timeout_secs = $6::int, deadline_at = wfg_now() + make_interval(secs => $6)
  where id = $1::uuid
), filled as (
  update wfg_jobs j
  set name = d.name, required_labels = d.required_labels, condition = d.condition, tolerates = d.tolerates,
    priority = d.priority, max_attempts = d.max_attempts, backoff = d.backoff, timeout_secs = d.timeout_secs,
    expires_secs = d.expires_secs, spec = d.spec, payload = d.payload, metadata = d.metadata,
    state = case when is_free then 'pending' else 'blocked' end, run_at = wfg_now(),
    expires_at = case when is_free then wfg_now() + make_interval(secs => d.expires_secs) end,
    version = j.version + 1, updated_at = wfg_now()
  from json_to_recordset($5::json) as d (run_id uuid, position int, name text, parents int[], required_labels text[],
    condition text, tolerates text, priority int, max_attempts int, backoff json, timeout_secs int, expires_secs int,
    spec json, payload json, metadata json)
  cross join lateral (select cardinality(d.parents) = 0 and d.condition is null) as free (is_free)
  where j.run_id = d.run_id and j.position = d.position
  returning j.lane, j.state
)
select lane::text, count(*)::int as count from filled where state = 'pending' group by lane`;

async function accept(
  tx: Queryable,
  run_id: string,
  definition: Definition,
  positions: ReadonlyMap<string, number>,
): Promise<LaneCount[]> {
  // The rows stand in the order of the text, and a JavaScript object has its numbers first.
  const jobs = jobRows(definition).flatMap((job) => {
    const position = positions.get(job.job_id);
    return position === undefined ? [] : [{ ...job, run_id, position }];
  });
  const { rows } = await tx.query<LaneCount>(ACCEPT, [
    run_id,
    toStorableText(definition.name),
    toStorableText(definition.trigger),
    toStorableJson(definition.env),
    toStorableJson(jobs),
    definition.timeout,
  ]);
  return rows;
}

interface LaneCount {
  lane: string;
  count: number;
}

function add(lanes: Lanes, more: readonly LaneCount[]): void {
  for (const { lane, count } of more) lanes[lane] = (lanes[lane] ?? 0) + count;
}

const REFUSE = `
with refused as (
  update wfg_runs set error = $2::text, submitted = null, version = version + 1 where id = $1::uuid
)
update wfg_jobs j
set state = 'cancelled', finished_at = wfg_now(), settled = false, version = j.version + 1, updated_at = wfg_now()
where j.run_id = $1::uuid and j.state = 'blocked'`;

async function refuse(tx: Queryable, run: string, error: WfgError): Promise<void> {
  await tx.query(REFUSE, [run, toStorableText(`the workflow is not valid: ${error.message}`)]);
}

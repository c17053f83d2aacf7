// Reads runs that were handed in by SQL, before a scheduler moves them on: their jobs get what is to be executed, and
// those that wait for nothing are released. A workflow that is refused ends its run before anything has started.
import { Definition } from '../contract/definition.ts';
import { toStorableJson, toStorableText } from '../contract/json.ts';
import { WfgError } from '../contract/problem.ts';
import type { Queryable } from '../db/pool.ts';
import { defineWorkflow } from '../rules/definition.ts';
import type { Lanes } from './advance.ts';
import { jobRows } from './job-rows.ts';

/** Read in one transaction, unless the first run alone is more. */
const MOST = { jobs: 5_000, bytes: 4 * 1024 * 1024 };

const FIND = `
select id, sum(open_jobs) over before > $2::int or sum(octet_length(submitted::text)) over before > $3::int as is_later
from wfg_runs where id = any($1::uuid[]) and submitted is not null
window before as (order by id)
order by id`;

const READ = 'select workflow_id, submitted from wfg_runs where id = $1::uuid';

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
    const found = await tx.query<{ workflow_id: string | null; submitted: unknown }>(READ, [id]);
    const [run] = found.rows;
    if (!run) continue;
    const defined = define(run);
    if (defined instanceof WfgError) await refuse(tx, id, defined);
    else for (const [lane, count] of await accept(tx, id, defined)) lanes[lane] = (lanes[lane] ?? 0) + count;
  }
  return { lanes, later };
}

/** What is stored of a workflow has been checked. */
function define({ workflow_id, submitted }: { workflow_id: string | null; submitted: unknown }) {
  if (workflow_id !== null) return Definition.parse(submitted);
  try {
    return defineWorkflow(submitted);
  } catch (error) {
    if (error instanceof WfgError) return error;
    throw error;
  }
}

// By name, since the rows stand in the order of the text, and a JavaScript object has numbers first. A job that was
// cancelled meanwhile stays so.
const ACCEPT = `
with accepted as (
  update wfg_runs
  set name = $2::text, trigger = $3::text, env = $4::json, submitted = null, version = version + 1,
    deadline_at = wfg_now() + make_interval(secs => $6::int)
  where id = $1::uuid
), filled as (
  update wfg_jobs j
  set name = d.name, required_labels = d.required_labels, condition = d.condition, tolerates = d.tolerates,
    priority = d.priority, max_attempts = d.max_attempts, backoff = d.backoff, timeout_secs = d.timeout_secs,
    expires_secs = d.expires_secs, spec = d.spec, payload = d.payload, metadata = d.metadata,
    state = case when is_free then 'pending' else 'blocked' end, run_at = wfg_now(),
    expires_at = case when is_free then wfg_now() + make_interval(secs => d.expires_secs) end,
    version = j.version + is_free::int, updated_at = wfg_now()
  from json_to_recordset($5::json) as d (job_id text, name text, parents int[], required_labels text[], condition text,
    tolerates text, priority int, max_attempts int, backoff json, timeout_secs int, expires_secs int, spec json,
    payload json, metadata json)
  cross join lateral (select cardinality(d.parents) = 0 and d.condition is null) as free (is_free)
  where j.run_id = $1::uuid and j.position > 0 and j.job_id = d.job_id and j.state = 'blocked'
  returning j.lane, j.state
)
select lane::text, count(*)::int as count from filled where state = 'pending' group by lane`;

async function accept(tx: Queryable, run: string, definition: Definition): Promise<[string, number][]> {
  const { rows } = await tx.query<{ lane: string; count: number }>(ACCEPT, [
    run,
    toStorableText(definition.name),
    toStorableText(definition.trigger),
    toStorableJson(definition.env),
    toStorableJson(jobRows(definition)),
    definition.timeout,
  ]);
  return rows.map(({ lane, count }) => [lane, count]);
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

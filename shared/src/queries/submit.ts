// Makes a run: one row for it and one for each of its jobs, in one statement.
import type { Definition } from '../contract/definition.ts';
import { toStorableJson, toStorableText } from '../contract/json.ts';
import type { Env } from '../contract/workflow.ts';
import type { Queryable } from '../db/pool.ts';
import { jobRows } from './job-rows.ts';

// Roots are born pending, so a worker may claim them before a scheduler has seen the run; but one with something to
// judge waits for it.
const SUBMIT = `
with run as (
  insert into wfg_runs (workflow_id, name, trigger, env, open_jobs, timeout_secs, deadline_at)
  values ($1::text, $2::text, $3::text, $4::json, json_array_length($5::json), $6::int,
    wfg_now() + make_interval(secs => $6))
  returning id
), job as (
  insert into wfg_jobs (run_id, position, job_id, name, workflow_id, state, kind, workflow_type, required_labels, parents,
    children, blocked_on, condition, tolerates, priority, max_attempts, backoff, timeout_secs, expires_secs, expires_at,
    spec, payload, metadata)
  select run.id, j.position, j.job_id, j.name, $1::text, case when is_free then 'pending' else 'blocked' end,
    case when j.workflow_type is null then 'command' else 'event' end, j.workflow_type, j.required_labels, j.parents,
    j.children, cardinality(j.parents), j.condition, j.tolerates, j.priority, j.max_attempts, j.backoff, j.timeout_secs,
    j.expires_secs, case when is_free then wfg_now() + make_interval(secs => j.expires_secs) end,
    j.spec, j.payload, j.metadata
  from run cross join json_to_recordset($5::json) as j (position int, job_id text, name text, workflow_type text,
    required_labels text[], parents int[], children int[], condition text, tolerates text, priority int,
    max_attempts int, backoff json, timeout_secs int, expires_secs int, spec json, payload json, metadata json)
  cross join lateral (select cardinality(j.parents) = 0 and j.condition is null) as free (is_free)
  returning lane, state
)
select run.id, job.lane::text, count(job.lane)::int as count
from run left join job on job.state = 'pending'
group by run.id, job.lane`;

export interface Submitted {
  run_id: string;
  /** Jobs that can be claimed at once, by lane. */
  lanes: Record<string, number>;
}

/** Starts a run of a definition; `env` overrides the definition's own. */
export async function submitRun(
  db: Queryable,
  workflowId: string | null,
  definition: Definition,
  env: Env,
): Promise<Submitted> {
  const runEnv = { ...definition.env, ...env };
  const jobs = jobRows(definition);
  const { rows } = await db.query<{ id: string; lane: string | null; count: number }>(SUBMIT, [
    workflowId,
    toStorableText(definition.name),
    toStorableText(definition.trigger),
    toStorableJson(runEnv),
    toStorableJson(jobs),
    definition.timeout,
  ]);
  const lanes = Object.fromEntries(rows.flatMap(({ lane, count }) => (lane === null ? [] : [[lane, count]])));
  const run_id = rows[0]?.id;
  if (run_id === undefined) throw new Error('the insert of a run returned no row');
  return { run_id, lanes };
}

// Makes a run: one row for it and one for each of its jobs, in one statement.
import type { CommandSpec } from '../contract/command.ts';
import type { Definition } from '../contract/definition.ts';
import { toStorableJson, toStorableText } from '../contract/json.ts';
import type { Env } from '../contract/workflow.ts';
import type { Queryable } from '../db/pool.ts';

// Roots are born pending, so a worker may claim them before a scheduler has seen the run.
const SUBMIT = `
with run as (
  insert into wfg_runs (workflow_id, name, trigger, env, open_jobs)
  values ($1::text, $2::text, $3::text, $4::json, json_array_length($5::json))
  returning id
), job as (
  insert into wfg_jobs (run_id, position, job_id, name, workflow_id, state, kind, required_labels, parents, children,
    blocked_on, priority, max_attempts, backoff, timeout_secs, spec, metadata)
  select run.id, j.position, j.job_id, j.name, $1::text,
    case when cardinality(j.parents) = 0 then 'pending' else 'blocked' end, 'command',
    j.required_labels, j.parents, j.children, cardinality(j.parents), j.priority, j.max_attempts, j.backoff,
    j.timeout_secs, j.spec, j.metadata
  from run cross join json_to_recordset($5::json) as j (position int, job_id text, name text, required_labels text[],
    parents int[], children int[], priority int, max_attempts int, backoff json, timeout_secs int, spec json,
    metadata json)
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
  ]);
  const lanes = Object.fromEntries(rows.flatMap(({ lane, count }) => (lane === null ? [] : [[lane, count]])));
  const run_id = rows[0]?.id;
  if (run_id === undefined) throw new Error('the insert of a run returned no row');
  return { run_id, lanes };
}

/** The rows of the jobs: positions from 1 in file order, dependencies by position. */
function jobRows(definition: Definition) {
  const position = new Map(definition.jobs.map((job, index) => [job.id, index + 1]));
  const children = new Map<string, number[]>(definition.jobs.map((job) => [job.id, []]));
  for (const [index, job] of definition.jobs.entries()) {
    for (const need of job.needs) children.get(need)?.push(index + 1);
  }
  return definition.jobs.map((job, index) => {
    const steps = job.steps?.map((step) => ({ ...step, on_success: true, on_failure: false })) ?? null;
    const spec: CommandSpec = { run: job.run, steps, env: job.env, mask: [], not_on: [] };
    return {
      position: index + 1,
      job_id: job.id,
      name: job.name,
      required_labels: [':command', ...job.labels],
      parents: job.needs.map((need) => position.get(need)),
      children: children.get(job.id),
      priority: job.priority,
      max_attempts: job.max_retries + 1,
      backoff: job.backoff === 'None' ? null : job.backoff,
      timeout_secs: job.timeout,
      spec,
      metadata: job.metadata,
    };
  });
}

// The jobs of a definition as rows of wfg_jobs.
import type { CommandSpec } from '../contract/command.ts';
import type { DefinedJob, Definition, SpecTemplate } from '../contract/definition.ts';

/** The rows of the jobs: positions from 1 in file order, dependencies by position. */
export function jobRows({ jobs }: Definition) {
  const position = new Map(jobs.map((job, index) => [job.id, index + 1]));
  const children = new Map<string, number[]>(jobs.map((job) => [job.id, []]));
  for (const [index, job] of jobs.entries()) {
    for (const need of job.needs) children.get(need)?.push(index + 1);
  }
  return jobs.map((job, index) => ({
    position: index + 1,
    job_id: job.id,
    name: job.name,
    workflow_type: job.uses,
    required_labels: [job.uses === null ? ':command' : `:event ${job.uses}`, ...job.labels],
    parents: job.needs.map((need) => position.get(need)),
    children: children.get(job.id),
    condition: job.condition,
    tolerates: job.tolerates,
    priority: job.priority,
    max_attempts: job.max_retries + 1,
    backoff: job.backoff,
    timeout_secs: job.timeout,
    expires_secs: job.expires_in,
    ...contentOf(job),
    metadata: job.metadata,
  }));
}

/** What is executed: as it is, or, if a scheduler judges it first, as it is written. */
function contentOf({ condition, uses, with: payload, run, steps, env, mask, not_on }: DefinedJob) {
  if (uses !== null) return { spec: null, payload };
  const template: SpecTemplate = { run, steps, env, mask, not_on };
  return { spec: condition === null ? toCommand(template) : template, payload: null };
}

/** Without an `if` a step runs as long as none has failed. */
function toCommand(template: SpecTemplate): CommandSpec {
  const steps = template.steps?.map(({ if: _none, ...step }) => {
    return { ...step, on_success: true, on_failure: false };
  });
  return { ...template, steps: steps ?? null };
}

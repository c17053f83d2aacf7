// A definition as workflow-graph shows it: each job with the state it has in the latest run.
import type { DefinedJob, Definition } from '../contract/definition.ts';
import type { JobState } from '../contract/job.ts';
import type { GraphJobView, WorkflowView } from '../contract/workflow.ts';
import { graphStatus } from './states.ts';

/** What the latest run says about a job; times in milliseconds since the epoch. */
export interface LatestState {
  state: JobState;
  attempt: number;
  started_ms: number | null;
  finished_ms: number | null;
  error: string | null;
}

/** The workflow of this id. A job that the latest run does not have, or that never ran, is queued. */
export function toWorkflowView(
  id: string,
  { name, trigger, jobs }: Definition,
  latest: ReadonlyMap<string, LatestState>,
): WorkflowView {
  return { id, name, trigger, jobs: jobs.map((job) => toGraphJob(job, latest.get(job.id))) };
}

function toGraphJob(job: DefinedJob, latest: LatestState | undefined): GraphJobView {
  return {
    id: job.id,
    name: job.name,
    status: graphStatus(latest?.state ?? 'pending'),
    command: commandText(job),
    duration_secs: durationSecs(latest),
    started_at: latest?.started_ms ?? null,
    depends_on: job.needs,
    output: latest?.state === 'failed' ? latest.error : null,
    required_labels: job.labels,
    max_retries: job.max_retries,
    attempt: Math.max(latest?.attempt ?? 0, 0),
    metadata: job.metadata,
    ports: job.ports,
    children: job.children,
    collapsed: job.collapsed,
  };
}

/** Steps are told one after another, each below its label; what a handler executes by the file's own line. */
function commandText({ run, steps, uses }: DefinedJob): string {
  if (uses !== null) return `uses: ${uses}`;
  return run ?? steps?.map((step) => `# ${step.label}\n${step.run}`).join('\n') ?? '';
}

/** Whole seconds of a success or a failure; null for anything else. */
function durationSecs(latest: LatestState | undefined): number | null {
  const { state, started_ms, finished_ms } = latest ?? {};
  if ((state !== 'completed' && state !== 'failed') || started_ms == null || finished_ms == null) return null;
  return Math.max(0, Math.floor((finished_ms - started_ms) / 1000));
}

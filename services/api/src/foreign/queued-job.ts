// A claimed job as workflow-graph's workers know it.
import { CommandSpec } from '@wfg/shared/contract/command';
import { leaseId } from '@wfg/shared/contract/lease';
import type { Claimed } from '@wfg/shared/contract/queued-job';
import type { ClaimedCommand, ClaimedEvent } from '@wfg/shared/queries/claim';
import type { Upstream } from '@wfg/shared/queries/upstream';
import { assembleCommand } from '@wfg/shared/rules/assemble-command';

/** What holds unless a job, or the handler of an event, has its own. */
const DEFAULT_BACKOFF = { command: 'None', event: { Exponential: { base_secs: 1, max_secs: 60 } } } as const;

/** The name of the job's workflow on the wire: its run's id, if it is of no stored workflow. */
export function wireWorkflowId({
  workflow_id,
  run_id,
}: {
  workflow_id: string | null;
  run_id: string;
}): string {
  return workflow_id ?? run_id;
}

/** The answer to a claim. @throws {z.ZodError} when what it executes cannot be read. */
export function toClaimed(
  job: ClaimedCommand | ClaimedEvent,
  upstream: Upstream,
  workerId: string,
  ttlSecs: number,
): Claimed {
  const workflow_id = wireWorkflowId(job);
  const { run_id, job_id, kind, workflow_type, payload, timeout_secs } = job;
  return {
    job: {
      job_id,
      workflow_id,
      command: commandOf(job),
      required_labels: job.required_labels.filter((label) => !label.startsWith(':')),
      retry_policy: { max_retries: job.max_attempts - 1, backoff: job.backoff ?? DEFAULT_BACKOFF[job.kind] },
      attempt: job.attempt,
      upstream_outputs: upstream,
      enqueued_at_ms: job.created_at.getTime(),
      delayed_until_ms: job.run_at > job.created_at ? job.run_at.getTime() : 0,
      run_id,
      kind,
      workflow_type,
      payload,
      try: job.tries,
      timeout_secs,
    },
    lease: {
      lease_id: leaseId(job),
      job_id,
      workflow_id,
      worker_id: workerId,
      ttl_secs: ttlSecs,
      granted_at_ms: job.started_at.getTime(),
    },
  };
}

function commandOf(job: ClaimedCommand | ClaimedEvent): string {
  if (job.kind !== 'command') return '';
  const spec = CommandSpec.parse(job.spec);
  return assembleCommand({ ...job.run_env, ...spec.env }, spec);
}

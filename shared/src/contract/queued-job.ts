// What a worker is handed that claims over HTTP: workflow-graph's QueuedJob and Lease, and what wfg has beyond them.
import { z } from 'zod';
import { Backoff } from './backoff.ts';
import { Outputs } from './job.ts';

export const QueuedJob = z
  .object({
    job_id: z.string(),
    workflow_id: z.string().meta({ description: 'the id of its run, if that is of no stored workflow' }),
    command: z.string().meta({ description: 'for `sh -c`; empty unless kind is command' }),
    required_labels: z.array(z.string()),
    retry_policy: z.object({ max_retries: z.int(), backoff: Backoff }),
    attempt: z.int().meta({ description: 'executions before this one' }),
    upstream_outputs: z.record(z.string(), Outputs),
    enqueued_at_ms: z.int(),
    delayed_until_ms: z.int().meta({ description: '0: it could be claimed at once' }),
    run_id: z.uuid(),
    kind: z.enum(['command', 'event']),
    workflow_type: z.string().nullable(),
    payload: z.unknown(),
    try: z.int().meta({ description: 'from 1, of 1 + max_retries' }),
    timeout_secs: z.int().nullable(),
  })
  .meta({ id: 'QueuedJob' });
export type QueuedJob = z.infer<typeof QueuedJob>;

export const LeaseView = z
  .object({
    lease_id: z.string(),
    job_id: z.string(),
    workflow_id: z.string(),
    worker_id: z.string(),
    ttl_secs: z.int(),
    granted_at_ms: z.int(),
  })
  .meta({ id: 'Lease' });
export type LeaseView = z.infer<typeof LeaseView>;

export const Claimed = z.object({ job: QueuedJob, lease: LeaseView }).meta({ id: 'Claimed' });
export type Claimed = z.infer<typeof Claimed>;

// The claim over HTTP: one job, at once or when one can be had within the time the client waits.
import { randomBytes } from 'node:crypto';
import type { Claimed } from '@wfg/shared/contract/queued-job';
import { isConnectionError } from '@wfg/shared/db/sqlstate';
import { type ClaimedJob, claimJobs } from '@wfg/shared/queries/claim';
import { meetClaimant } from '@wfg/shared/queries/foreign-workers';
import { readUpstream, type Upstream } from '@wfg/shared/queries/upstream';
import { messageOf } from '@wfg/shared/rules/message-of';
import type { ApiContext } from '../context.ts';
import { endAttempt } from './end-attempt.ts';
import { toClaimed } from './queued-job.ts';

export interface ClaimOrder {
  worker_id: string;
  labels: string[];
  lease_ttl_secs: number;
  wait_secs: number;
}

/** The job, or null when there was none until the time was over, the client had `gone`, or the api stops. */
export async function claimOverHttp(
  context: ApiContext,
  order: ClaimOrder,
  gone: AbortSignal,
): Promise<Claimed | null> {
  const until = performance.now() + order.wait_secs * 1_000;
  const handlers = await context.paced(() => meetClaimant(context.pool, order.worker_id, order.labels));
  const offered = [':command', ...order.labels, ...handlers.map((type) => `:event ${type}`)];
  const look = () => lookForJob(context, order, offered, gone);
  if (order.wait_secs === 0) return look();
  const place = context.waiting.enter(order.worker_id, offered);
  try {
    for (;;) {
      const job = await look();
      if (job) place.passOn();
      if (job || !(await place.wait(until - performance.now(), gone))) return job;
    }
  } finally {
    place.leave();
  }
}

/** One look, as short as any other request: only between looks a claim may take long. */
function lookForJob(
  context: ApiContext,
  { worker_id, lease_ttl_secs }: ClaimOrder,
  offered: readonly string[],
  gone: AbortSignal,
): Promise<Claimed | null> {
  return context.paced(async (answered) => {
    const isVain = () => gone.aborted || answered.aborted;
    if (isVain()) return null;
    const [job] = await claimJobs(context.pool, {
      workerId: worker_id,
      instance: null,
      labels: offered,
      limit: 1,
      leaseSecs: lease_ttl_secs,
      nonce: (randomBytes(8).readBigUInt64BE() >> 1n).toString(),
    });
    if (!job) return null;
    context.doorbell.ring({ runs: [job.run_id] });
    const upstream = isVain() ? null : await upstreamOf(context, job);
    if (upstream && !isVain()) return toClaimed(job, upstream, worker_id, lease_ttl_secs);
    // Nobody is there to take it. Where only the answer gets lost, the lease runs out.
    await endAttempt(context, job, {
      outcome: 'handed_back',
      error: 'the worker went away while it claimed',
    });
    return null;
  });
}

/** Null when the job cannot be handed over: it has failed by that, or was given back. */
async function upstreamOf(context: ApiContext, job: ClaimedJob): Promise<Upstream | null> {
  if (job.parents.length === 0) return {};
  try {
    return await readUpstream(context.pool, job);
  } catch (error) {
    if (isConnectionError(error)) throw error;
    await endAttempt(context, job, { outcome: 'failed', error: messageOf(error) });
    return null;
  }
}

// The claim over HTTP: one job, at once or when one can be had within the time the client waits.
import { randomBytes } from 'node:crypto';
import type { Claimed } from '@wfg/shared/contract/queued-job';
import { isConnectionError } from '@wfg/shared/db/sqlstate';
import { claimJobs } from '@wfg/shared/queries/claim';
import { meetClaimant } from '@wfg/shared/queries/foreign-workers';
import { readUpstream } from '@wfg/shared/queries/upstream';
import { messageOf } from '@wfg/shared/rules/message-of';
import type { ApiContext } from '../context.ts';
import { type End, endAttempt } from './end-attempt.ts';
import { toClaimed } from './queued-job.ts';

export interface ClaimOrder {
  worker_id: string;
  labels: string[];
  lease_ttl_secs: number;
  wait_secs: number;
}

export interface Client {
  /** Says that it has left. */
  gone: AbortSignal;
  /** Throws when it may not claim any more: a token may be revoked while it waits. */
  admit: () => Promise<void>;
}

/** The job, or null when there was none until the time was over, the client had gone, or the api stops. */
export async function claimOverHttp(
  context: ApiContext,
  order: ClaimOrder,
  client: Client,
): Promise<Claimed | null> {
  const until = performance.now() + order.wait_secs * 1_000;
  const handlers = await context.paced(() => meetClaimant(context.pool, order.worker_id, order.labels));
  const offered = [':command', ...order.labels, ...handlers.map((type) => `:event ${type}`)];
  const look = () => lookForJob(context, order, offered, client);
  if (order.wait_secs === 0) return look();
  const place = context.waiting.enter(order.worker_id, offered);
  try {
    for (;;) {
      const job = await look();
      if (job) place.passOn();
      if (job || !(await place.wait(until - performance.now(), client.gone))) return job;
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
  { gone, admit }: Client,
): Promise<Claimed | null> {
  return context.paced(async (answered) => {
    const isVain = () => gone.aborted || answered.aborted;
    await admit();
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
    let end: End = { outcome: 'handed_back', error: 'the worker went away while it claimed' };
    try {
      const upstream = job.parents.length > 0 && !isVain() ? await readUpstream(context.pool, job) : {};
      if (!isVain()) return toClaimed(job, upstream, worker_id, lease_ttl_secs);
    } catch (error) {
      if (isConnectionError(error)) throw error;
      end = { outcome: 'failed', error: messageOf(error) };
    }
    // It cannot be handed over, or nobody is there to take it. Where only the answer gets lost, the lease runs out.
    await endAttempt(context, job, end);
    return null;
  });
}

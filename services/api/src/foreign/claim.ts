// The claim over HTTP: one job, at once or when one can be had within the time the client waits.
import { randomBytes } from 'node:crypto';
import { leaseId } from '@wfg/shared/contract/lease';
import type { Claimed } from '@wfg/shared/contract/queued-job';
import { isConnectionError } from '@wfg/shared/db/sqlstate';
import type { Queryable } from '@wfg/shared/db/pool';
import { withTx } from '@wfg/shared/db/tx';
import { type ClaimedJob, claimJobs, type ClaimRequest } from '@wfg/shared/queries/claim';
import { meetClaimant } from '@wfg/shared/queries/foreign-workers';
import { dropKey, findKey, keepKey, type Key, takeKey } from '@wfg/shared/queries/keys';
import { readLeased } from '@wfg/shared/queries/leased';
import { readUpstream } from '@wfg/shared/queries/upstream';
import { messageOf } from '@wfg/shared/rules/message-of';
import type { ApiContext } from '../context.ts';
import { type End, endAttempt } from './end-attempt.ts';
import { toClaimed } from './queued-job.ts';

export interface ClaimOrder {
  worker_id: string;
  labels: readonly string[];
  lease_ttl_secs: number;
  wait_secs: number;
}

export interface Client {
  /** Says that it has left. */
  gone: AbortSignal;
  /** Throws when it may not claim any more: a token may be revoked while it waits. */
  admit: () => Promise<void>;
}

/**
 * The job, or null when there was none until the time was over, the client had gone, or the api stops. By a key, the
 * job that was claimed with it: null when the lease is over.
 */
export async function claimOverHttp(
  context: ApiContext,
  order: ClaimOrder,
  client: Client,
  key: Key | null,
): Promise<Claimed | null> {
  const until = performance.now() + order.wait_secs * 1_000;
  const handlers = await context.paced(async () => {
    // What is refused changes nothing, not even what is known of the worker.
    if (key) await findKey(context.pool, key);
    return meetClaimant(context.pool, order.worker_id, order.labels);
  });
  const offered = [':command', ...order.labels, ...handlers.map((type) => `:event ${type}`)];
  const look = () => lookForJob(context, { ...order, labels: offered }, client, key);
  if (order.wait_secs === 0) return (await look()).claimed;
  const place = context.waiting.enter(order.worker_id, offered);
  try {
    for (;;) {
      const { claimed, isLast } = await look();
      if (claimed) place.passOn();
      if (isLast || !(await place.wait(until - performance.now(), client.gone))) return claimed;
    }
  } finally {
    place.leave();
  }
}

interface Look {
  claimed: Claimed | null;
  /** Another look would find nothing else. */
  isLast: boolean;
}

/** One look, as short as any other request: only between looks a claim may take long. */
function lookForJob(
  context: ApiContext,
  order: ClaimOrder,
  { gone, admit }: Client,
  key: Key | null,
): Promise<Look> {
  return context.paced(async (answered) => {
    const isGone = () => gone.aborted || answered.aborted;
    // By its key a job can still be asked for again.
    const isVain = () => isGone() && key === null;
    await admit();
    if (isGone()) return NOTHING;
    const { job, isKept } = await claimOnce(context, key, {
      workerId: order.worker_id,
      instance: null,
      labels: order.labels,
      limit: 1,
      leaseSecs: order.lease_ttl_secs,
      nonce: (randomBytes(8).readBigUInt64BE() >> 1n).toString(),
    });
    // Its labels name no task.
    if (!job || job.kind === 'task') return { claimed: null, isLast: isKept };
    context.doorbell.ring({ runs: [job.run_id] });
    let end: End = { outcome: 'handed_back', error: 'the worker went away while it claimed' };
    try {
      const upstream = job.parents.length > 0 && !isVain() ? await readUpstream(context.pool, job) : {};
      if (!isVain()) {
        const claimed = toClaimed(job, upstream, order.worker_id, order.lease_ttl_secs);
        return { claimed, isLast: true };
      }
    } catch (error) {
      if (isConnectionError(error)) throw error;
      end = { outcome: 'failed', error: messageOf(error) };
    }
    // It cannot be handed over, or nobody is there to take it. Where only the answer gets lost, the lease runs out.
    await endAttempt(context, job, end);
    return NOTHING;
  });
}

const NOTHING: Look = { claimed: null, isLast: false };

/** Claims a job, or finds the one that was claimed with the key and is still held. That there was none is not kept. */
async function claimOnce(
  { pool, lostClaims, claimMemory }: ApiContext,
  key: Key | null,
  request: ClaimRequest,
): Promise<{ job: ClaimedJob | null; isKept: boolean }> {
  const claimOne = async (db: Queryable) => (await claimJobs(db, request, claimMemory))[0] ?? null;
  if (key === null) {
    // By its key a job whose claim had no answer can be asked for again.
    const job = await claimOne(pool).catch((error: unknown) => {
      lostClaims.add({ worker_id: request.workerId, nonce: request.nonce });
      throw error;
    });
    return { job, isKept: false };
  }
  return withTx(pool, async (tx) => {
    const kept = await takeKey(tx, key);
    if (kept) return { job: await readLeased(tx, kept.subject), isKept: true };
    const job = await claimOne(tx);
    if (job) await keepKey(tx, key, { subject: leaseId(job), status: 200 });
    else await dropKey(tx, key);
    return { job, isKept: false };
  });
}

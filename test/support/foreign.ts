// A worker over HTTP, step by step, as a test wants it.
import { Claimed } from '@wfg/shared/contract/queued-job';
import type { TestApi } from './api.ts';

export interface ClaimBody {
  worker_id?: string;
  labels?: string[];
  lease_ttl_secs?: number;
  wait_secs?: number;
}

/** Claims, and gives what came; null when there was nothing. */
export async function claimHttp(api: Pick<TestApi, 'ask'>, body: ClaimBody = {}): Promise<Claimed | null> {
  const { status, body: claimed } = await api.ask('POST', '/api/jobs/claim', {
    worker_id: 'f1',
    labels: [],
    ...body,
  });
  if (status !== 200) throw new Error(`claim: ${status} ${JSON.stringify(claimed)}`);
  return Claimed.nullable().parse(claimed);
}

/** The same where there must be one. */
export async function claimedHttp(api: Pick<TestApi, 'ask'>, body: ClaimBody = {}): Promise<Claimed> {
  const claimed = await claimHttp(api, body);
  if (!claimed) throw new Error('there is nothing to claim');
  return claimed;
}

/** What a worker says about its lease: heartbeat, complete, fail, logs. */
export async function tell(
  api: Pick<TestApi, 'ask'>,
  { lease }: Pick<Claimed, 'lease'>,
  what: string,
  body?: unknown,
): Promise<{ status: number; body: unknown }> {
  const { status, body: answer } = await api.ask('POST', `/api/jobs/${lease.lease_id}/${what}`, body);
  return { status, body: answer };
}

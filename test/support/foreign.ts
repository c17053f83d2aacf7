// A worker over HTTP, step by step, as a test wants it.
import { Claimed } from '@wfg/shared/contract/queued-job';
import type { Pool } from 'pg';
import type { TestApi } from './api.ts';
import { moveClock } from './engine.ts';

/** Nothing can be claimed, nobody is known, and the clock is right. */
export async function emptyTables(pool: Pool): Promise<void> {
  await moveClock(pool, '0');
  // Truncating would take a second: history and logs have many partitions.
  await pool.query(
    'delete from wfg_jobs; delete from wfg_runs; delete from wfg_workflows; delete from wfg_workers',
  );
}

/** Stores a workflow of workflow-graph's own jobs as `w`, starts it, and returns the run's id. */
export async function startGraph(
  api: Pick<TestApi, 'ask'>,
  jobs: readonly Record<string, unknown>[],
): Promise<string> {
  const whole = jobs.map((job) => ({ name: String(job.id), command: 'true', depends_on: [], ...job }));
  await api.ask('PUT', '/api/workflows/w', { name: 'w', trigger: 'push', jobs: whole });
  return Object((await api.ask('POST', '/api/workflows/w/run')).body).run_id;
}

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

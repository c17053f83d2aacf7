// Calls about runs and their jobs.
import type { Attempt } from '@wfg/shared/contract/job';
import type * as jobs from '@wfg/shared/contract/routes/jobs';
import type { RunKind } from '@wfg/shared/contract/run-filter';
import type { Run, RunStatus } from '@wfg/shared/contract/run';
import type * as runs from '@wfg/shared/contract/routes/runs';
import { call } from './call.ts';

/** What narrows a list of runs; times as RFC 3339 has them. */
export interface RunsAsked {
  status?: RunStatus | undefined;
  kind?: RunKind | undefined;
  workflow_id?: string | undefined;
  workflow_type?: string | undefined;
  label?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** Newest runs first; `cursor` is a `next` of an earlier page. */
export async function getRuns(
  asked: RunsAsked,
  cursor: string | null,
  signal: AbortSignal,
): Promise<runs.RunPage> {
  const query = { ...asked, cursor: cursor ?? undefined };
  return (await call<typeof runs.listRuns>('get', '/api/runs', { query }, signal)).body;
}

/** Asks for a run's end; what runs is still running when this answers. `force` spares no job. */
export async function cancelRun(run: string, force = false): Promise<void> {
  await call<typeof runs.cancelRun>('post', '/api/runs/{run}/cancel', { params: { run }, body: { force } });
}

/** Starts a new run of an ended one's jobs: all, what failed (`failed`) or one, and all below. Resolves to it. */
export async function rerunRun(run: string, from: string | undefined, key: string): Promise<Run> {
  const body = from === undefined ? {} : { from };
  const given = { params: { run }, headers: { 'idempotency-key': key }, body };
  return (await call<typeof runs.rerun>('post', '/api/runs/{run}/rerun', given)).body;
}

export async function cancelJob(run: string, job: string): Promise<void> {
  await call<typeof jobs.cancelJob>('post', '/api/runs/{run}/jobs/{job}/cancel', { params: { run, job } });
}

/** Runs a job of a run that goes on again. */
export async function retryJob(run: string, job: string): Promise<void> {
  await call<typeof jobs.retryJob>('post', '/api/runs/{run}/jobs/{job}/retry', { params: { run, job } });
}

/** Runs a dead letter again. */
export async function retryRun(run: string): Promise<void> {
  await retryJob(run, 'main');
}

/** From the first, 500 at most. */
export async function getAttempts(run: string, job: string, signal: AbortSignal): Promise<Attempt[]> {
  const given = { params: { run, job } };
  return (await call<typeof jobs.listAttempts>('get', '/api/runs/{run}/jobs/{job}/attempts', given, signal))
    .body;
}

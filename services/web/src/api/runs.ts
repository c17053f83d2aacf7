// Calls about runs and their jobs.
import type { retryJob } from '@wfg/shared/contract/routes/jobs';
import type * as runs from '@wfg/shared/contract/routes/runs';
import { call } from './call.ts';

/** Newest runs first; `cursor` is a `next` of an earlier page. */
export async function getRuns(cursor: string | null, signal: AbortSignal): Promise<runs.RunPage> {
  const query = cursor === null ? {} : { cursor };
  return (await call<typeof runs.listRuns>('get', '/api/runs', { query }, signal)).body;
}

/** Asks for a run's end; what runs is still running when this answers. */
export async function cancelRun(run: string): Promise<void> {
  await call<typeof runs.cancelRun>('post', '/api/runs/{run}/cancel', { params: { run } });
}

/** Runs a dead letter again. */
export async function retryRun(run: string): Promise<void> {
  const params = { run, job: 'main' };
  await call<typeof retryJob>('post', '/api/runs/{run}/jobs/{job}/retry', { params });
}

// Calls about workflows.
import type { AnswerOf } from '@wfg/shared/contract/routes/route-types';
import type { startRun } from '@wfg/shared/contract/routes/workflow-runs';
import type { listWorkflows } from '@wfg/shared/contract/routes/workflows';
import type { WorkflowView } from '@wfg/shared/contract/workflow';
import { call } from './call.ts';
import { nextCursor } from './next-cursor.ts';

export interface WorkflowPage {
  items: WorkflowView[];
  next: string | null;
}

/** Newest workflows first; `cursor` is a `next` of an earlier page. */
export async function getWorkflows(cursor: string | null, signal: AbortSignal): Promise<WorkflowPage> {
  const query = cursor === null ? {} : { cursor };
  const { body, link } = await call<typeof listWorkflows>('get', '/api/workflows', { query }, signal);
  return { items: body, next: nextCursor(link) };
}

/** Starts a run, or answers the one that is going on. */
export async function runWorkflow(id: string): Promise<AnswerOf<typeof startRun>> {
  return (await call<typeof startRun>('post', '/api/workflows/{id}/run', { params: { id } })).body;
}

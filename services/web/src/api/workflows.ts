// Calls about workflows.
import type { AnswerOf } from '@wfg/shared/contract/routes/route-types';
import type { startRun } from '@wfg/shared/contract/routes/workflow-runs';
import type * as workflows from '@wfg/shared/contract/routes/workflows';
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
  const given = await call<typeof workflows.listWorkflows>('get', '/api/workflows', { query }, signal);
  return { items: given.body, next: nextCursor(given.link) };
}

export async function getWorkflow(id: string, signal: AbortSignal): Promise<WorkflowView> {
  const path = '/api/workflows/{id}/status';
  return (await call<typeof workflows.getWorkflow>('get', path, { params: { id } }, signal)).body;
}

/** Stores the text of a workflow file: under an id, or a new one. */
export async function storeWorkflow(id: string | null, text: string, key: string): Promise<WorkflowView> {
  if (id !== null) {
    const given = { params: { id }, body: text };
    return (await call<typeof workflows.putWorkflow>('put', '/api/workflows/{id}', given)).body;
  }
  const given = { headers: { 'idempotency-key': key }, body: text };
  return (await call<typeof workflows.createWorkflow>('post', '/api/workflows', given)).body;
}

/** Its runs stay. */
export async function deleteWorkflow(id: string): Promise<void> {
  await call<typeof workflows.deleteWorkflow>('delete', '/api/workflows/{id}', { params: { id } });
}

/** Starts a run, or answers the one that is going on. */
export async function runWorkflow(
  id: string,
  env: Record<string, string> = {},
): Promise<AnswerOf<typeof startRun>> {
  const given = { params: { id }, body: Object.keys(env).length === 0 ? {} : { env } };
  return (await call<typeof startRun>('post', '/api/workflows/{id}/run', given)).body;
}

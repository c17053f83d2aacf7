// The HTTP calls of the client. The server checks its answers against the contract, so they are taken at their word.
import type { Problem } from '@wfg/shared/contract/problem';
import type { RunSummary } from '@wfg/shared/contract/run';
import type { WorkflowView } from '@wfg/shared/contract/workflow';
import { nextCursor } from './next-cursor.ts';

/** Longer than the server itself waits for its database (3 s). */
const ANSWER_MS = 10_000;

export interface Page<T> {
  items: T[];
  next: string | null;
}

/** A refusal or failure whose message is meant for the reader. */
class ApiError extends Error {
  override name = 'ApiError';
}

/** Newest runs first; `cursor` is a `next` of an earlier page. */
export async function getRuns(cursor: string | null, signal: AbortSignal): Promise<Page<RunSummary>> {
  const query = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
  return (await call<Page<RunSummary>>(`/api/runs${query}`, { signal })).body;
}

/** Newest workflows first; `cursor` is a `next` of an earlier page. */
export async function getWorkflows(cursor: string | null, signal: AbortSignal): Promise<Page<WorkflowView>> {
  const query = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
  const { body, link } = await call<WorkflowView[]>(`/api/workflows${query}`, { signal });
  return { items: body, next: nextCursor(link) };
}

/** Starts a run, or answers the one that is going on. */
export async function runWorkflow(id: string): Promise<{ run_id: string }> {
  const path = `/api/workflows/${encodeURIComponent(id)}/run`;
  return (await call<{ run_id: string }>(path, { method: 'POST' })).body;
}

/** Asks for a run's end; what runs is still running when this answers. */
export async function cancelRun(run: string): Promise<void> {
  await call(`/api/runs/${encodeURIComponent(run)}/cancel`, { method: 'POST' });
}

/** One line for the reader about anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface Answer<T> {
  body: T;
  /** The header. */
  link: string | null;
}

async function call<T>(path: string, init: RequestInit): Promise<Answer<T>> {
  const late = AbortSignal.timeout(ANSWER_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, late]) : late;
  try {
    const response = await fetch(path, { ...init, signal, headers: { accept: 'application/json' } });
    const text = await response.text();
    if (!response.ok) throw new ApiError(refusal(response, text));
    return { body: JSON.parse(text === '' ? 'null' : text), link: response.headers.get('link') };
  } catch (error) {
    if (error instanceof ApiError || init.signal?.aborted) throw error;
    if (late.aborted) throw new ApiError(`The server did not answer within ${ANSWER_MS / 1000} s.`);
    if (error instanceof SyntaxError) throw new ApiError('The server answered something that is not JSON.');
    throw new ApiError('The server cannot be reached. Check that wfg is running.');
  }
}

function refusal(response: Response, text: string): string {
  if (response.headers.get('content-type')?.startsWith('application/problem+json')) {
    const problem: Problem = JSON.parse(text);
    return problem.detail || problem.title;
  }
  return `The server answered ${response.status} ${response.statusText}.`;
}

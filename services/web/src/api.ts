// The HTTP calls of the client. The server checks its answers against the contract, so they are taken at their word.
import type { Problem } from '@wfg/shared/contract/problem';
import type { Route } from '@wfg/shared/contract/routes/route';
import type { AnswerOf, RequestOf } from '@wfg/shared/contract/routes/route-types';
import type { retryJob } from '@wfg/shared/contract/routes/jobs';
import type * as runs from '@wfg/shared/contract/routes/runs';
import type * as sessions from '@wfg/shared/contract/routes/session';
import type { startRun } from '@wfg/shared/contract/routes/workflow-runs';
import type { listWorkflows } from '@wfg/shared/contract/routes/workflows';
import type { WorkflowView } from '@wfg/shared/contract/workflow';
import { nextCursor } from './next-cursor.ts';
import { lockOut, session } from './session.ts';

/** Longer than the server itself waits for its database (3 s). */
const ANSWER_MS = 10_000;

export interface WorkflowPage {
  items: WorkflowView[];
  next: string | null;
}

/** A refusal or failure whose message is meant for the reader. */
class ApiError extends Error {
  override name = 'ApiError';
}

/** Newest runs first; `cursor` is a `next` of an earlier page. */
export async function getRuns(cursor: string | null, signal: AbortSignal): Promise<runs.RunPage> {
  const query = cursor === null ? {} : { cursor };
  return (await call<typeof runs.listRuns>('get', '/api/runs', { query }, signal)).body;
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

/** Asks for a run's end; what runs is still running when this answers. */
export async function cancelRun(run: string): Promise<void> {
  await call<typeof runs.cancelRun>('post', '/api/runs/{run}/cancel', { params: { run } });
}

/** Runs a dead letter again. */
export async function retryRun(run: string): Promise<void> {
  const params = { run, job: 'main' };
  await call<typeof retryJob>('post', '/api/runs/{run}/jobs/{job}/retry', { params });
}

/** Asks what the reader may do. */
export async function readSession(): Promise<void> {
  session.value = (await call<typeof sessions.getSession>('get', '/api/session', {})).body;
}

/** Begins a session, which the browser keeps by itself. */
export async function login(token: string): Promise<void> {
  await call<typeof sessions.login>('post', '/api/session', { body: { token } });
}

/** Ends the session. */
export async function logout(): Promise<void> {
  await call<typeof sessions.logout>('delete', '/api/session', {});
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

interface Given {
  params?: Record<string, string | number>;
  query?: Record<string, string | number | undefined>;
  body?: object;
}

// The routes are known by their types alone, which hold method, path and what is given to the route that is named.
function call<R extends Route>(
  method: R['method'],
  path: R['path'],
  given: RequestOf<R>,
  signal?: AbortSignal,
): Promise<Answer<AnswerOf<R>>>;
async function call(
  method: string,
  path: string,
  { params = {}, query = {}, body }: Given,
  signal?: AbortSignal,
): Promise<Answer<unknown>> {
  const late = AbortSignal.timeout(ANSWER_MS);
  try {
    const response = await fetch(urlOf(path, params, query), {
      method: method.toUpperCase(),
      signal: signal ? AbortSignal.any([signal, late]) : late,
      headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
      body: body ? JSON.stringify(body) : null,
    });
    const text = await response.text();
    if (response.status === 401) lockOut();
    if (!response.ok) throw new ApiError(refusal(response, text));
    return { body: JSON.parse(text === '' ? 'null' : text), link: response.headers.get('link') };
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error;
    if (late.aborted) throw new ApiError(`The server did not answer within ${ANSWER_MS / 1000} s.`);
    if (error instanceof SyntaxError) throw new ApiError('The server answered something that is not JSON.');
    throw new ApiError('The server cannot be reached. Check that wfg is running.');
  }
}

function urlOf(path: string, params: Given['params'] & {}, query: Given['query'] & {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`);
  return search.length === 0 ? filled : `${filled}?${search.join('&')}`;
}

function refusal(response: Response, text: string): string {
  if (response.headers.get('content-type')?.startsWith('application/problem+json')) {
    const problem: Problem = JSON.parse(text);
    return problem.detail || problem.title;
  }
  return `The server answered ${response.status} ${response.statusText}.`;
}

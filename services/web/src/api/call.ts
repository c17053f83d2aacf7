// One HTTP call of the client. The server checks its answers against the contract, so they are taken at their word.
import type { Problem } from '@wfg/shared/contract/problem';
import type { Route } from '@wfg/shared/contract/routes/route';
import type { AnswerOf, RequestOf } from '@wfg/shared/contract/routes/route-types';
import { lockOut } from '../session.ts';

/** Longer than the server itself waits for its database (3 s). */
const ANSWER_MS = 10_000;

/** A refusal or failure whose message is meant for the reader. */
export class ApiError extends Error {
  override name = 'ApiError';
  /** What is wrong where in the body that was sent. */
  readonly errors: Problem['errors'];

  constructor(message: string, errors: Problem['errors'] = []) {
    super(message);
    this.errors = errors;
  }
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
  headers?: Record<string, string | undefined>;
  /** Text is a workflow file. */
  body?: object | string;
}

// The routes are known by their types alone, which hold method, path and what is given to the route that is named.
export function call<R extends Route>(
  method: R['method'],
  path: R['path'],
  given: RequestOf<R>,
  signal?: AbortSignal,
): Promise<Answer<AnswerOf<R>>>;
export async function call(
  method: string,
  path: string,
  { params = {}, query = {}, headers = {}, body }: Given,
  signal?: AbortSignal,
): Promise<Answer<unknown>> {
  const late = AbortSignal.timeout(ANSWER_MS);
  try {
    const response = await fetch(urlOf(path, params, query), {
      method: method.toUpperCase(),
      signal: signal ? AbortSignal.any([signal, late]) : late,
      headers: headersOf({
        accept: 'application/json',
        ...headers,
        ...(body && { 'content-type': typeof body === 'string' ? 'application/yaml' : 'application/json' }),
      }),
      body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
    });
    const text = await response.text();
    if (response.status === 401) lockOut();
    if (!response.ok) throw refusal(response, text);
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
  const search = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return search.length === 0 ? filled : `${filled}?${search.join('&')}`;
}

function headersOf(given: Record<string, string | undefined>): [string, string][] {
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

function refusal(response: Response, text: string): ApiError {
  if (response.headers.get('content-type')?.startsWith('application/problem+json')) {
    const problem: Problem = JSON.parse(text);
    return new ApiError(problem.detail || problem.title, problem.errors);
  }
  return new ApiError(`The server answered ${response.status} ${response.statusText}.`);
}

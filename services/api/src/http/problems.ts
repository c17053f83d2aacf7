// Every error answer: application/problem+json, whatever went wrong.
import { type Issue, type ProblemCode, PROBLEMS, WfgError } from '@wfg/shared/contract/problem';
import { errorCode, isConnectionError, isTimeLimit, SQLSTATE } from '@wfg/shared/db/sqlstate';
import { issuesOf } from '@wfg/shared/rules/issues';
import type { Context, ErrorHandler, Hono } from 'hono';
import type { Logger } from 'pino';
import type { z } from 'zod';

/** Seconds after which a client may ask again, at the latest. */
const RETRY_AFTER: Record<number, number> = { 429: 60, 503: 2 };

/** The answer to an error that is meant for the caller. */
export function problemResponse(error: WfgError): Response {
  const problem = error.toProblem();
  const headers = new Headers({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' });
  const again = RETRY_AFTER[problem.status];
  if (again !== undefined) headers.set('retry-after', String(again));
  if (problem.status === 401) headers.set('www-authenticate', 'Bearer');
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

/** The answer to what was not done; throws what is no error for the caller. */
export function refused(error: unknown): Response {
  if (error instanceof WfgError) return problemResponse(error);
  throw error;
}

/** Answers whatever a route threw, and passes it on to `doubt`. */
export function onError(log: Logger, doubt: (err: unknown) => void): ErrorHandler {
  return (err, c) => {
    doubt(err);
    return errorResponse(err, log, c.req);
  };
}

/** The answer to anything that was thrown; what is our own fault is logged, and not told. */
export function errorResponse(err: unknown, log: Logger, asked: { method: string; path: string }): Response {
  const { method, path } = asked;
  const known = err instanceof WfgError ? err : translate(err);
  if (known === null) log.error({ err, method, path }, 'request failed');
  else if (PROBLEMS[known.code].status >= 500) log.debug({ err, path }, 'request not served');
  return problemResponse(known ?? new WfgError('internal', 'an error inside wfg: the log of the api has it'));
}

function translate(err: unknown): WfgError | null {
  const code = errorCode(err);
  if (isConnectionError(err)) return new WfgError('unavailable', 'the database is away: try again');
  if (isTimeLimit(err)) return new WfgError('unavailable', 'the database is too busy: try again');
  // JSON nested thousands of levels deep overflows the stack, here or in PostgreSQL.
  if (
    (err instanceof RangeError && err.message.includes('call stack')) ||
    code === SQLSTATE.statementTooComplex
  ) {
    return new WfgError('invalid_body', 'the body is nested too deeply');
  }
  return null;
}

type Routes = Pick<Hono, 'routes'>;

/** 405 where the path has other methods, else 404. */
export function notFound(app: Routes) {
  return (c: Context): Response => {
    const { method, path } = c.req;
    const allowed = methodsOf(app, path);
    if (allowed.length === 0)
      return problemResponse(new WfgError('not_found', `there is no ${path}: /docs has all routes`));
    const detail = `${path} has ${allowed.join(', ')}, not ${method}`;
    const response = problemResponse(new WfgError('method_not_allowed', detail));
    response.headers.set('allow', allowed.join(', '));
    return response;
  };
}

function methodsOf(app: Routes, path: string): string[] {
  const matches = (pattern: string) => new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(path);
  // '*' is the browser client, which has every path.
  const own = app.routes.filter((route) => route.method !== 'ALL' && !route.path.includes('*'));
  const methods = own.filter((route) => matches(route.path));
  return [...new Set(methods.map((route) => route.method))].sort();
}

interface Validated {
  target: string;
  success: boolean;
  error?: z.ZodError;
}

/** What a route's schemas refuse: a bad id in the path, or a bad parameter. */
export function refuseInvalid({ target, success, error }: Validated): void {
  if (success || !error) return;
  const code: ProblemCode = target === 'param' ? 'bad_id' : 'bad_query';
  const issues = issuesOf(error);
  throw new WfgError(code, detailOf(issues), issues);
}

/** All issues in one line. */
export function detailOf(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
}

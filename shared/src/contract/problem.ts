// The error answers of the API (RFC 9457, application/problem+json): every code, its status and its title.
import { z } from 'zod';

/** All codes there are; clients branch on the code, never on the text. */
export const PROBLEMS = {
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  malformed_yaml: { status: 400, title: 'The body is not valid YAML' },
  bad_id: { status: 400, title: 'The id is malformed' },
  bad_query: { status: 400, title: 'A query parameter is malformed' },
  bad_protocol: { status: 400, title: 'The WebSocket does not ask for the subprotocol' },
  unauthorized: { status: 401, title: 'The request brings no token, or a wrong one' },
  foreign_host: { status: 403, title: 'The request names a host that is not this server' },
  foreign_origin: { status: 403, title: 'The request comes from a page of another origin' },
  not_found: { status: 404, title: 'There is no such thing' },
  method_not_allowed: { status: 405, title: 'The route does not have this method' },
  lease_lost: { status: 409, title: 'The lease is not held any more' },
  key_in_use: { status: 409, title: 'A request with the same Idempotency-Key is still being worked on' },
  conflict: { status: 409, title: 'The present state does not allow it' },
  too_large: { status: 413, title: 'The body is too large' },
  unsupported_type: { status: 415, title: 'The content type is not one the route reads' },
  invalid_body: { status: 422, title: 'The body does not fit the route' },
  invalid_workflow: { status: 422, title: 'The workflow is not valid' },
  invalid_key: { status: 422, title: 'The Idempotency-Key is malformed' },
  key_reused: { status: 422, title: 'The Idempotency-Key came with another body before' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'An error inside wfg' },
  unavailable: { status: 503, title: 'The request cannot be served at the moment' },
} as const;
export type ProblemCode = keyof typeof PROBLEMS;

/** What is wrong, and where: `jobs.b.needs`. */
export const Issue = z.object({ path: z.string(), message: z.string() });
export type Issue = z.infer<typeof Issue>;

export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    errors: z.array(Issue),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof Problem>;

/** An error whose code and text are meant for the caller. */
export class WfgError extends Error {
  override name = 'WfgError';
  readonly code: ProblemCode;
  readonly issues: Issue[];

  constructor(code: ProblemCode, detail: string, issues: Issue[] = []) {
    super(detail);
    this.code = code;
    this.issues = issues;
  }

  toProblem(): Problem {
    const { status, title } = PROBLEMS[this.code];
    return {
      type: `urn:wfg:problem:${this.code}`,
      title,
      status,
      code: this.code,
      detail: this.message,
      errors: this.issues,
    };
  }
}

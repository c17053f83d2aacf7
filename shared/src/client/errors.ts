// What a call can end with instead of a good answer.
import { jsonOrUndefined } from '../contract/json.ts';
import { Problem } from '../contract/problem.ts';
import { messageOf } from '../rules/message-of.ts';

/** What of a foreign answer's text is told: it may be a whole page. */
const MAX_TOLD = 1_000;

/** What a refusal is made of. */
export interface Refusal {
  status: number;
  statusText: string;
  /** The answer's text. */
  body: string;
  /** The server expects that it can soon do what it cannot do now. */
  passes: boolean;
}

/** The server said no, or something between it and the client did. */
export class WfgApiError extends Error implements Refusal {
  override name = 'WfgApiError';
  readonly status: number;
  readonly statusText: string;
  readonly body: string;
  readonly passes: boolean;
  /** What the server says; null when the answer is not its own. */
  readonly problem: Problem | null;

  /** `asked` begins the message: `GET /api/runs: 503 Service Unavailable — the database is away: try again`. */
  constructor(asked: string, { status, statusText, body, passes }: Refusal) {
    const problem = Problem.safeParse(jsonOrUndefined(body)).data ?? null;
    const said = problem ? problem.detail || problem.title : body.slice(0, MAX_TOLD);
    super(`${asked}: ${status} ${statusText}${said && ` — ${said}`}`);
    this.status = status;
    this.statusText = statusText;
    this.body = body;
    this.passes = passes;
    this.problem = problem;
  }

  /** What clients branch on; null when the answer is not the server's own. */
  get code(): string | null {
    return this.problem?.code ?? null;
  }
}

/** The server cannot be reached, or does not answer in time: `cause` says which. */
export class UnreachableError extends Error {
  override name = 'UnreachableError';

  constructor(asked: string, cause: unknown) {
    super(`${asked}: ${messageOf(cause)}`, { cause });
  }
}

/** What answers is not wfg, or wfg of another version. */
export class ForeignAnswerError extends Error {
  override name = 'ForeignAnswerError';
}

// HTTP calls to the api: every failure becomes an error with its exit code and one line for the user.
import { createClient, type GivenTo } from '@wfg/shared/client/client';
import { ForeignAnswerError, UnreachableError, WfgApiError } from '@wfg/shared/client/errors';
import type { Route } from '@wfg/shared/contract/routes/route';
import type { AnswerOf } from '@wfg/shared/contract/routes/route-types';
import { errorWords } from './error-words.ts';
import { EXIT, ExitError } from './exit-error.ts';
import { type Server, tokenRefused } from './server.ts';

export interface HttpClient {
  <R extends Route>(route: R, ...given: GivenTo<R>): Promise<AnswerOf<R>>;
  server: Server;
}

export function createHttpClient(server: Server): HttpClient {
  const wfg = createClient({ url: server.base, token: server.token?.value });
  async function call<R extends Route>(route: R, ...given: GivenTo<R>): Promise<AnswerOf<R>> {
    try {
      return await wfg(route, ...given);
    } catch (err) {
      throw inWords(err, server);
    }
  }
  return Object.assign(call, { server });
}

function inWords(err: unknown, server: Server): unknown {
  const { href } = server.base;
  if (err instanceof WfgApiError && err.status === 401) return tokenRefused(server);
  if (err instanceof WfgApiError) return refused(err);
  if (err instanceof UnreachableError) {
    const why = errorWords(err.cause);
    const message = `cannot reach wfg at ${href} (${why}): check that it is running, and --url`;
    return new ExitError(EXIT.unreachable, message, { cause: err });
  }
  if (err instanceof ForeignAnswerError) {
    const message = `${href} does not answer like wfg: check --url, and that both are of one version`;
    return new ExitError(EXIT.unreachable, message, { cause: err });
  }
  return err;
}

/** The server said no, and what to do; or something between it and us did, which says neither. */
function refused(err: WfgApiError): ExitError {
  const { problem, status, statusText } = err;
  const answered = `the server answered ${status} ${statusText}`;
  const unexplained = err.passes ? `${answered}: try again in a moment` : answered;
  const message = problem ? problem.detail || problem.title : unexplained;
  return new ExitError(status >= 500 ? EXIT.unreachable : EXIT.usage, message, { cause: err });
}

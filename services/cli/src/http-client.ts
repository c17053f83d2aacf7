// HTTP calls to the api: every failure becomes an error with its exit code and one line for the user.
import { jsonOrUndefined, parseJson } from '@wfg/shared/contract/json';
import { Problem } from '@wfg/shared/contract/problem';
import type { z } from 'zod';
import { errorWords } from './error-words.ts';
import { EXIT, ExitError } from './exit-error.ts';

export interface HttpClient {
  base: URL;
  get: <S extends z.ZodType>(path: string, answer: S) => Promise<z.output<S>>;
  /** `body` undefined: none is sent. */
  post: <S extends z.ZodType>(path: string, body: unknown, answer: S) => Promise<z.output<S>>;
}

/** Accepting 10,000 jobs takes the server some seconds. */
const ANSWER_MS = 60_000;

/** A client of the server at `base`, which ends with a slash; paths are relative to it. */
export function createHttpClient(base: URL): HttpClient {
  async function call<S extends z.ZodType>(path: string, init: RequestInit, answer: S): Promise<z.output<S>> {
    const { response, text } = await fetchText(path, init);
    if (!response.ok) throw refused(response, text);
    const parsed = answer.safeParse(readJson(text));
    if (!parsed.success) {
      throw unreachable(
        `${base.href} does not answer like wfg: check --url, and that both are of one version`,
      );
    }
    return parsed.data;
  }

  async function fetchText(path: string, init: RequestInit): Promise<{ response: Response; text: string }> {
    try {
      const response = await fetch(new URL(path, base), { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
      return { response, text: await response.text() };
    } catch (err) {
      const late = err instanceof DOMException && err.name === 'TimeoutError';
      const why = late ? `no answer within ${ANSWER_MS / 1000} s` : causeOf(err);
      throw unreachable(
        `cannot reach wfg at ${base.href} (${why}): check that it is running, and --url`,
        err,
      );
    }
  }

  const headers = { accept: 'application/json' };
  return {
    base,
    get: (path, answer) => call(path, { headers }, answer),
    post: (path, body, answer) =>
      call(
        path,
        body === undefined
          ? { method: 'POST', headers }
          : {
              method: 'POST',
              headers: { ...headers, 'content-type': 'application/json' },
              body: JSON.stringify(body),
            },
        answer,
      ),
  };
}

/** What is passed on as JSON keeps the digits of its large numbers. */
function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The server said no: with a Problem, or something between it and us did. */
function refused(response: Response, text: string): ExitError {
  const problem = Problem.safeParse(jsonOrUndefined(text));
  const said = problem.success
    ? problem.data.detail || problem.data.title
    : `the server answered ${response.status} ${response.statusText}`;
  const exitCode = response.status >= 500 ? EXIT.unreachable : EXIT.usage;
  const again = response.headers.has('retry-after') ? ': try again in a moment' : '';
  return new ExitError(exitCode, `${said}${again}`);
}

function unreachable(message: string, cause?: unknown): ExitError {
  return new ExitError(EXIT.unreachable, message, { cause });
}

/** fetch says only "fetch failed"; its cause says why. */
function causeOf(err: unknown): string {
  return errorWords((err instanceof Error && err.cause) || err);
}

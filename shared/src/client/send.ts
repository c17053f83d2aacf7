// Sends a request and reads its answer, within a time.
import { ForeignAnswerError, UnreachableError, WfgApiError } from './errors.ts';

export interface CallOptions {
  /** Gives the call up: it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** For the whole answer, or a stream's beginning, in milliseconds; 60,000 if not given. */
  timeoutMs?: number;
}

/** Accepting 10,000 jobs takes the server some seconds. */
const ANSWER_MS = 60_000;

/**
 * What `read` makes of the good answer.
 *
 * @throws {WfgApiError} when the server refuses.
 * @throws {UnreachableError} when it cannot be reached, or does not answer in time.
 */
export async function send<T>(
  request: Request,
  { signal, timeoutMs = ANSWER_MS }: CallOptions,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const asked = `${request.method} ${new URL(request.url).pathname}`;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const ended = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    const response = await fetch(request, { signal: ended });
    if (response.ok) return await read(response);
    const { status, statusText, headers } = response;
    const passes = headers.has('retry-after');
    throw new WfgApiError(asked, { status, statusText, passes, body: await response.text() });
  } catch (err) {
    signal?.throwIfAborted();
    if (err instanceof WfgApiError || err instanceof ForeignAnswerError) throw err;
    throw new UnreachableError(asked, late.signal.aborted ? lateness(timeoutMs) : causeOf(err));
  } finally {
    clearTimeout(timer);
  }
}

function lateness(timeoutMs: number): Error {
  return new Error(`no answer within ${timeoutMs / 1000} s`);
}

/** fetch says only "fetch failed"; its cause says why. */
function causeOf(err: unknown): unknown {
  return (err instanceof Error && err.cause) || err;
}

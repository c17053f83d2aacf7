// A client of the HTTP interface: calls a route of the contract by its object, `await wfg(getRun, { params: { run } })`,
// and knows from it what to give and what comes back.
import type { z } from 'zod';
import { parseJson } from '../contract/json.ts';
import type { Route } from '../contract/routes/route.ts';
import type { AnswerOf, EventOf, RequestOf, StreamRoute } from '../contract/routes/route-types.ts';
import { messageOf } from '../rules/message-of.ts';
import { ForeignAnswerError } from './errors.ts';
import { followEvents } from './follow-events.ts';
import { type Given, requestOf } from './request.ts';
import { type CallOptions, send } from './send.ts';

export interface ClientSettings {
  /** Where the server is; a path in it is kept. */
  url: string | URL;
  token?: string | undefined;
}

/** What a caller gives to a route: nothing at all where nothing is required. */
export type GivenTo<R extends Route> =
  Partial<RequestOf<R>> extends RequestOf<R>
    ? [given?: RequestOf<R> & CallOptions]
    : [given: RequestOf<R> & CallOptions];

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

export interface Client {
  /**
   * The body of a good answer, checked against the route.
   *
   * @throws {WfgApiError} when the server refuses.
   * @throws {UnreachableError} when it cannot be reached, or does not answer in time.
   * @throws {ForeignAnswerError} when the answer is not what the route says.
   */
  <R extends Route>(route: R, ...given: GivenTo<R>): Promise<AnswerOf<R>>;
  /** The same with status and headers. */
  answer: <R extends Route>(route: R, ...given: GivenTo<R>) => Promise<Answer<AnswerOf<R>>>;
  /**
   * The events of a stream, up to and with its `end`; one that breaks is resumed behind the last event that came, unless
   * the server stays away for more than five minutes. Throws as a call does.
   */
  stream: <R extends StreamRoute>(route: R, ...given: GivenTo<R>) => AsyncGenerator<EventOf<R>>;
}

/** A client of one server. It keeps nothing between calls. */
export function createClient({ url, token }: ClientSettings): Client {
  const base = new URL(url);
  if (!base.pathname.endsWith('/')) base.pathname += '/';

  function request(route: Route, given: Given): Request {
    const made = requestOf(base, route, given);
    if (token !== undefined) made.headers.set('authorization', `Bearer ${token}`);
    return made;
  }

  // Each has two signatures: what callers see, and what it does with a route as data.
  function answer<R extends Route>(route: R, ...given: GivenTo<R>): Promise<Answer<AnswerOf<R>>>;
  function answer(route: Route, given: Given & CallOptions = {}): Promise<Answer<unknown>> {
    return send(request(route, given), given, async (response) => {
      const { status, headers } = response;
      return { status, headers, body: read(route, status, await response.text()) };
    });
  }

  function call<R extends Route>(route: R, ...given: GivenTo<R>): Promise<AnswerOf<R>>;
  async function call(route: Route, given: Given & CallOptions = {}): Promise<unknown> {
    return (await answer(route, given)).body;
  }

  function stream<R extends StreamRoute>(route: R, ...given: GivenTo<R>): AsyncGenerator<EventOf<R>>;
  async function* stream(route: StreamRoute, given: Given & CallOptions = {}): AsyncGenerator {
    const { schema } = route.responses[200].content['text/event-stream'];
    const open = (last: string | null, signal: AbortSignal) => {
      const headers = last === null ? given.headers : { ...given.headers, 'last-event-id': last };
      return send(request(route, { ...given, headers }), { ...given, signal }, async (opened) => opened);
    };
    for await (const { event, id, data } of followEvents({ open, signal: given.signal }))
      yield checked(route, schema, () => ({ event, id, data: parseJson(data) }));
  }

  return Object.assign(call, { answer, stream });
}

/** The body of an answer, as the route has it for the status. */
function read(route: Route, status: number, text: string): unknown {
  const response = route.responses[status];
  if (!response) throw foreign(route, `nothing is known of a status ${status}`);
  const json = response.content?.['application/json'];
  if (json) return checked(route, json.schema, () => parseJson(text));
  return response.content ? text : undefined;
}

function checked(route: Route, schema: z.ZodType, parse: () => unknown): unknown {
  let value: unknown;
  try {
    value = parse();
  } catch (err) {
    throw foreign(route, messageOf(err), err);
  }
  const { data, error } = schema.safeParse(value);
  if (!error) return data;
  const { path = [], message = '' } = error.issues[0] ?? {};
  throw foreign(route, `${path.join('.')}: ${message}`, error);
}

function foreign({ method, path }: Route, why: string, cause?: unknown): ForeignAnswerError {
  return new ForeignAnswerError(`the answer to ${method} ${path} is not one of this wfg: ${why}`, { cause });
}

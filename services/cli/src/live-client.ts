// The client's end of the WebSocket protocol: reconnects by itself, and each subscription goes on where it was.
import type { IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { jsonOrUndefined } from '@wfg/shared/contract/json';
import { type ClientFrame, PROTOCOL, ServerFrame, type Subscribe } from '@wfg/shared/contract/live';
import { Problem } from '@wfg/shared/contract/problem';
import { retryPause } from '@wfg/shared/rules/pause';
import { WebSocket } from 'ws';
import { EXIT, ExitError, usage } from './exit-error.ts';
import { type Server, tokenRefused } from './server.ts';

/** What a subscription asks for, without what the connection adds. */
export type Topic = Subscribe extends infer S ? (S extends Subscribe ? Omit<S, 'id' | 'op'> : never) : never;

/** A frame that belongs to one subscription; refusals are dealt with here. */
export type TopicFrame = Exclude<ServerFrame, { op: 'pong' | 'error' }>;

interface Subscriber {
  /** Asked at each (re)connect, so that it names the last position it knows. */
  topic: () => Topic;
  receive: (frame: TopicFrame) => void;
}

export interface LiveClient {
  /** Subscribes until the returned function is called. */
  subscribe: (subscriber: Subscriber) => () => void;
  /** Rejects with what to tell the user when the server stays away, or refuses a subscription for good. */
  failed: Promise<never>;
  close: () => void;
}

/** Milliseconds. */
export const LIMITS = {
  handshake: 10_000,
  /** The server pings every 10 s; a connection that is silent for longer than this is dead. */
  silence: 30_000,
  /** So long it is tried to reach the server again: a restart, also of its database. */
  away: 300_000,
  /** Of the time from one try to the next no more counts: the rest this machine slept, or this process was stopped. */
  step: 30_000,
};

/** Codes of refusals that pass by themselves: such a subscription is asked for again. */
const PASSING: ReadonlySet<string> = new Set(['unavailable', 'internal']);

/** Dials at once; `say` gets a line for the user when the connection is lost, and when it is there again. */
export function connectLive(server: Server, say: (text: string) => void, limits = LIMITS): LiveClient {
  const { base, token } = server;
  const url = new URL('ws', base);
  url.protocol = base.protocol === 'https:' ? 'wss:' : 'ws:';
  const headers = token === undefined ? {} : { authorization: `Bearer ${token.value}` };
  const subscribers = new Map<string, Subscriber>();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  let names = 0;
  let failures = 0;
  let triedAt = performance.now();
  let away = 0;
  /** It has been connected. */
  let isKnown = false;
  /** Why the server last said no. */
  let refusal: string | undefined;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let socket = dial();

  function dial(): WebSocket {
    const dialled = new WebSocket(url, PROTOCOL, { handshakeTimeout: limits.handshake, headers });
    dialled.on('open', () => {
      if (failures > 0) say(isKnown ? 'connected again' : 'connected');
      isKnown = true;
      refusal = undefined;
      failures = 0;
      away = 0;
      heard();
      for (const id of subscribers.keys()) ask(id);
    });
    dialled.on('ping', heard);
    dialled.on('message', (data) => {
      heard();
      if (Buffer.isBuffer(data)) receive(data.toString('utf8'));
    });
    dialled.on('unexpected-response', (_, answer) => {
      const { statusCode = 0 } = answer;
      if (statusCode === 401) fail(tokenRefused(server));
      else if (statusCode < 500 && statusCode !== 429)
        fail(usage(`${base.href} refuses to be followed live (${statusCode}): check --url`));
      else void refusedFor(answer).finally(() => dialled.terminate());
    });
    // An error is always followed by a close, which is where it is dealt with.
    dialled.on('error', () => undefined);
    dialled.on('close', redial);
    return dialled;
  }

  function heard(): void {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(() => socket.terminate(), limits.silence);
  }

  /** Says once why the server takes nobody just now. */
  async function refusedFor(answer: IncomingMessage): Promise<void> {
    const { data: problem } = Problem.safeParse(jsonOrUndefined(await textOf(answer)));
    if (problem && refusal !== problem.detail) say(`${base.href} refuses for now: ${problem.detail}`);
    refusal = problem?.detail;
  }

  function redial(): void {
    clearTimeout(timer);
    if (closed) return;
    // However long ago it was heard: the first try to reach it again is still to come.
    if (failures > 0) away += Math.min(performance.now() - triedAt, limits.step);
    triedAt = performance.now();
    if (away > limits.away) {
      const minutes = Math.round(limits.away / 60_000);
      const message = `wfg at ${base.href} has not answered for ${minutes} minutes: check that it runs`;
      return fail(new ExitError(EXIT.unreachable, message));
    }
    failures += 1;
    if (failures === 1 && refusal === undefined)
      say(`${isKnown ? 'lost the connection to' : 'cannot reach'} ${base.href}: trying again`);
    timer = setTimeout(() => {
      socket = dial();
    }, retryPause(failures));
  }

  function receive(text: string): void {
    // What does not parse is of a kind that a newer server knows and this client does not need.
    const { data: frame } = ServerFrame.safeParse(jsonOrUndefined(text));
    if (frame === undefined || frame.op === 'pong' || frame.id === undefined) return;
    const { id } = frame;
    if (frame.op !== 'error') subscribers.get(id)?.receive(frame);
    else if (PASSING.has(frame.code)) askAgain(id);
    else if (subscribers.has(id)) fail(usage(frame.detail));
  }

  function askAgain(id: string): void {
    const refusing = socket;
    setTimeout(() => socket === refusing && ask(id), retryPause(3)).unref();
  }

  function ask(id: string): void {
    const subscriber = subscribers.get(id);
    if (subscriber) send({ op: 'subscribe', id, ...subscriber.topic() });
  }

  function send(frame: ClientFrame): void {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
  }

  function fail(why: ExitError): void {
    failure.reject(why);
    close();
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
    socket.terminate();
  }

  return {
    failed: failure.promise,
    close,
    subscribe(subscriber) {
      names += 1;
      const id = `s${names}`;
      subscribers.set(id, subscriber);
      ask(id);
      return () => {
        if (subscribers.delete(id)) send({ op: 'unsubscribe', id });
      };
    },
  };
}

// The one socket to the server: dials, notices silence, dials again, and renews every subscription from where it was.
import { type ReadonlySignal, signal } from '@preact/signals';
import type { PROTOCOL as Protocol, SentFrame, ServerFrame } from '@wfg/shared/contract/live';

const PROTOCOL: typeof Protocol = 'wfg.v1';

/** `stale`: nothing has been heard for so long that what the page shows may be wrong. */
export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'stale';

/** What a subscription asks for, without what the connection adds. */
export type Topic = SentFrame extends infer S
  ? S extends { op: 'subscribe' }
    ? Omit<S, 'op' | 'id'>
    : never
  : never;

/** A frame that belongs to one subscription. */
export type TopicFrame = Extract<ServerFrame, { id?: string }>;

interface Subscriber {
  /** Asked at each (re)connect, so that it can name the last position it knows. */
  topic: () => Topic;
  receive: (frame: TopicFrame) => void;
}

export interface Connection {
  state: ReadonlySignal<LiveState>;
  /** When the next dial is due, milliseconds since the epoch; null while none is planned. */
  retryAt: ReadonlySignal<number | null>;
  /** Subscribes until the returned function is called. */
  subscribe(subscriber: Subscriber): () => void;
  /** Dials now if it waits to, else makes sure that the socket still answers. */
  wake(): void;
  close(): void;
}

/** Milliseconds. */
export const LIMITS = {
  /** A socket silent for so long is asked for a sign of life… */
  quiet: 8_000,
  /** …and given up when none comes in this time. Also the limit of a dial. */
  answer: 5_000,
  /** Without a socket for so long, the page is stale. */
  stale: 12_000,
  /** The first wait before dialling again; it doubles up to the longest. */
  firstRetry: 500,
  longestRetry: 10_000,
};

/** Dials at once. `limits` are those of LIMITS. */
export function connect(url: string, limits = LIMITS): Connection {
  const state = signal<LiveState>('connecting');
  const retryAt = signal<number | null>(null);
  const subscribers = new Map<string, Subscriber>();
  let socket: WebSocket | null = null;
  let ears = new AbortController();
  let names = 0;
  let failures = 0;
  let frames = 0;
  let closed = false;
  let watchTimer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let staleTimer: ReturnType<typeof setTimeout> | undefined;

  function send(frame: SentFrame): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
  }

  function ask(id: string): void {
    const subscriber = subscribers.get(id);
    if (subscriber) send({ op: 'subscribe', id, ...subscriber.topic() });
  }

  function dial(): void {
    clearTimeout(retryTimer);
    retryAt.value = null;
    socket = new WebSocket(url, PROTOCOL);
    ears = new AbortController();
    watchTimer = setTimeout(() => lose('reconnecting'), limits.answer);
    socket.addEventListener('open', onOpen, { signal: ears.signal });
    socket.addEventListener('message', onMessage, { signal: ears.signal });
    socket.addEventListener('close', () => lose('reconnecting'), { signal: ears.signal });
  }

  function onOpen(): void {
    clearTimeout(staleTimer);
    staleTimer = undefined;
    state.value = 'live';
    watch();
    for (const id of subscribers.keys()) ask(id);
  }

  function onMessage(message: MessageEvent<string>): void {
    frames += 1;
    failures = 0;
    const frame: ServerFrame = JSON.parse(message.data);
    if (frame.op !== 'pong' && frame.id !== undefined) subscribers.get(frame.id)?.receive(frame);
  }

  /** Waits for silence, then asks. Timers of hidden tabs run late, so only an unanswered question counts as death. */
  function watch(): void {
    clearTimeout(watchTimer);
    const seen = frames;
    watchTimer = setTimeout(() => (frames === seen ? probe() : watch()), limits.quiet);
  }

  function probe(): void {
    clearTimeout(watchTimer);
    const seen = frames;
    send({ op: 'ping' });
    watchTimer = setTimeout(() => (frames === seen ? lose('stale') : watch()), limits.answer);
  }

  /** Lets go of the socket without waiting for its close, which a dead peer never answers. */
  function lose(next: 'reconnecting' | 'stale'): void {
    clearTimeout(watchTimer);
    ears.abort();
    socket?.close();
    socket = null;
    if (closed) return;
    if (state.value !== 'stale') state.value = next;
    staleTimer ??= setTimeout(() => (state.value = 'stale'), limits.stale);
    const delay = wait(failures);
    failures += 1;
    retryAt.value = Date.now() + delay;
    retryTimer = setTimeout(dial, delay);
  }

  /** The wait before the n-th retry (from 0), with jitter: a restarted server must not meet all its readers at once. */
  function wait(retry: number): number {
    return Math.min(limits.firstRetry * 2 ** retry, limits.longestRetry) * (0.5 + Math.random() / 2);
  }

  dial();
  return {
    state,
    retryAt,
    subscribe(subscriber) {
      names += 1;
      const id = `s${names}`;
      subscribers.set(id, subscriber);
      ask(id);
      return () => {
        if (subscribers.delete(id)) send({ op: 'unsubscribe', id });
      };
    },
    wake() {
      if (socket === null) dial();
      else if (socket.readyState === WebSocket.OPEN) probe();
    },
    close() {
      closed = true;
      clearTimeout(retryTimer);
      clearTimeout(staleTimer);
      lose('reconnecting');
    },
  };
}

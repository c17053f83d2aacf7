// One WebSocket: reads the client's frames, runs its subscriptions, reads and sends no faster than the client takes.
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonOrUndefined } from '@wfg/shared/contract/json';
import { ClientFrame, type ServerFrame, UNAUTHORIZED, type Subscribe } from '@wfg/shared/contract/live';
import { check } from '@wfg/shared/rules/issues';
import { jitter } from '@wfg/shared/rules/pause';
import { type Loop, startLoop } from '@wfg/shared/runtime/loop';
import pLimit from 'p-limit';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { RawData, WebSocket } from 'ws';
import { detailOf } from '../http/problems.ts';
import type { Viewer } from './hub.ts';
import { logTopic } from './log-topic.ts';
import { createOutbox } from './outbox.ts';
import { runTopic } from './run-topic.ts';
import { type Topic, TopicError } from './topic.ts';

const MAX_SUBSCRIPTIONS = 200;
const PING_MS = 10_000;
const SILENCE_MS = 30_000;
/** After the last frame of a subscription its loop has nothing to do until it is removed. */
const OVER_MS = 24 * 3_600_000;

interface Subscription {
  frame: Subscribe;
  topic: Topic;
  loop: Loop;
}

export interface ConnectionSettings {
  pool: pg.Pool;
  log: Logger;
  pollMs: () => number;
}

/** Serves an accepted socket until it closes. */
export function serveConnection(socket: WebSocket, { pool, log, pollMs }: ConnectionSettings): Viewer {
  const subscriptions = new Map<string, Subscription>();
  const outbox = createOutbox(socket);
  // One step at a time: whatever is subscribed, and however often anew, one piece at most is held for this client.
  const turn = pLimit(1);
  const closed = Promise.withResolvers<void>();
  let heardAt = performance.now();

  const pinging = setInterval(() => {
    if (performance.now() - heardAt > SILENCE_MS) socket.terminate();
    else socket.ping();
  }, jitter(PING_MS));

  socket.on('pong', () => (heardAt = performance.now()));
  socket.on('error', (error) => log.debug({ err: error }, 'socket error'));
  socket.on('message', (data, isBinary) => {
    heardAt = performance.now();
    receive(data, isBinary);
    // Who asks and does not read the answers is not listened to.
    if (!outbox.isFull()) return;
    socket.pause();
    void outbox.room().then(() => socket.resume());
  });
  socket.on('close', () => {
    clearInterval(pinging);
    for (const id of subscriptions.keys()) unsubscribe(id);
    closed.resolve();
  });

  function refuse(code: string, detail: string, id?: string): void {
    outbox.send({ op: 'error', code, detail, ...(id === undefined ? {} : { id }) });
  }

  function receive(data: RawData, isBinary: boolean): void {
    const frame = isBinary || !Buffer.isBuffer(data) ? undefined : jsonOrUndefined(data.toString('utf8'));
    if (frame === undefined) return refuse('bad_frame', 'a frame is JSON text');
    const { data: asked, issues } = check(ClientFrame, frame);
    if (issues) return refuse('bad_frame', detailOf(issues.slice(0, 1)), idOf(frame));
    act(asked);
  }

  function act(frame: ClientFrame): void {
    switch (frame.op) {
      case 'subscribe':
        return subscribe(frame);
      case 'unsubscribe':
        return unsubscribe(frame.id);
      case 'resync': {
        const known = subscriptions.get(frame.id);
        if (!known) return refuse('unknown_subscription', `nothing is subscribed as ${frame.id}`, frame.id);
        unsubscribe(frame.id);
        return subscribe(known.frame);
      }
      case 'ping':
        outbox.send({ op: 'pong' });
    }
  }

  function subscribe(frame: Subscribe): void {
    if (subscriptions.has(frame.id))
      return refuse('duplicate_id', `${frame.id} is subscribed already`, frame.id);
    if (subscriptions.size >= MAX_SUBSCRIPTIONS) {
      return refuse('too_many', `a socket has at most ${MAX_SUBSCRIPTIONS} subscriptions`, frame.id);
    }
    const context = { pool, pollMs, send };
    const topic = frame.topic === 'run' ? runTopic(frame.id, frame.run, context) : logTopic(frame, context);
    const subscription: Subscription = { frame, topic, loop: startLoop({ name: frame.topic, log, step }) };
    subscriptions.set(frame.id, subscription);

    async function send(out: ServerFrame): Promise<void> {
      await outbox.room();
      if (subscriptions.get(frame.id)?.topic === topic) outbox.send(out);
    }

    async function step(signal: AbortSignal): Promise<number> {
      try {
        const next = await turn(async () => {
          await outbox.room();
          return signal.aborted ? null : topic.step();
        });
        if (next === null) return OVER_MS;
        await sleep(topic.restMs(), undefined, { signal }).catch(() => undefined);
        return next;
      } catch (error) {
        if (!(error instanceof TopicError)) throw error;
        refuse(error.code, error.message, frame.id);
        unsubscribe(frame.id);
        return OVER_MS;
      }
    }
  }

  function unsubscribe(id: string): void {
    const subscription = subscriptions.get(id);
    subscriptions.delete(id);
    void subscription?.loop[Symbol.asyncDispose]();
  }

  return {
    closed: closed.promise,
    hear(bell) {
      for (const { topic, loop } of subscriptions.values()) if (topic.concerns(bell)) loop.wake();
    },
    async close(why) {
      if (why === 'stopping') socket.close(1001, 'the server is stopping');
      else socket.close(UNAUTHORIZED, 'the token or session has ended');
      await closed.promise;
    },
  };
}

/** The name a broken frame gives itself, so that the client can tell which of its frames is meant. */
function idOf(frame: unknown): string | undefined {
  if (typeof frame !== 'object' || frame === null || !('id' in frame)) return undefined;
  return typeof frame.id === 'string' ? frame.id : undefined;
}

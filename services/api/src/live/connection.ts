// One WebSocket: reads the client's frames, runs its subscriptions, reads and sends no faster than the client takes.
import { jsonOrUndefined } from '@wfg/shared/contract/json';
import {
  ClientFrame,
  Named,
  type ServerFrame,
  type Subscribe,
  UNAUTHORIZED,
} from '@wfg/shared/contract/live';
import { check } from '@wfg/shared/rules/issues';
import { jitter } from '@wfg/shared/rules/pause';
import pLimit from 'p-limit';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { RawData, WebSocket } from 'ws';
import { detailOf } from '../http/problems.ts';
import type { Feeds } from './feeds.ts';
import type { Viewer } from './hub.ts';
import { subscribeLog } from './log-subscription.ts';
import { createOutbox } from './outbox.ts';
import type { Outlet } from './outlet.ts';
import { runSource } from './run-source.ts';
import { runsSource } from './runs-source.ts';
import { socketForm } from './shared-frame.ts';
import { statsSource } from './stats-source.ts';
import { workersSource } from './workers-source.ts';

const PING_MS = 10_000;
const SILENCE_MS = 30_000;

interface Subscription extends Disposable {
  frame: Subscribe;
}

export interface ConnectionSettings {
  pool: pg.Pool;
  log: Logger;
  feeds: Feeds;
  /** Of a socket. */
  maxSubscriptions: number;
}

/** Serves an accepted socket until it closes. */
export function serveConnection(socket: WebSocket, settings: ConnectionSettings): Viewer {
  const { log, maxSubscriptions } = settings;
  const subscriptions = new Map<string, Subscription>();
  const outbox = createOutbox(socket);
  // However much is subscribed, and however often anew, one piece at most is held for this client alone.
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

  function say(frame: ServerFrame): void {
    outbox.send(JSON.stringify(frame));
  }

  function refuse(code: string, detail: string, id?: string): void {
    say({ op: 'error', code, detail, ...(id === undefined ? {} : { id }) });
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
        say({ op: 'pong' });
    }
  }

  function subscribe(frame: Subscribe): void {
    if (subscriptions.has(frame.id))
      return refuse('duplicate_id', `${frame.id} is subscribed already`, frame.id);
    if (subscriptions.size >= maxSubscriptions) {
      return refuse(
        'too_many',
        `a socket has at most ${maxSubscriptions} subscriptions: unsubscribe, or open another`,
        frame.id,
      );
    }
    const isOver = () => subscriptions.get(frame.id) !== subscription;
    const outlet: Outlet = {
      form: socketForm(frame.id),
      isFull: outbox.isFull,
      room: outbox.room,
      inTurn: turn,
      send(out) {
        if (!isOver()) outbox.send(out.as(outlet.form));
      },
      refuse(code, detail) {
        if (isOver()) return;
        refuse(code, detail, frame.id);
        unsubscribe(frame.id);
      },
    };
    const subscription: Subscription = { frame, ...follow(frame, outlet) };
    subscriptions.set(frame.id, subscription);
  }

  function follow(frame: Subscribe, outlet: Outlet): Disposable {
    const { feeds } = settings;
    switch (frame.topic) {
      case 'logs':
        return subscribeLog(frame, outlet, settings);
      case 'run':
        return feeds.follow(`run ${frame.run}`, (from) => runSource(frame.run, from), outlet);
      case 'runs': {
        const { id: _, ...filter } = frame;
        const name = JSON.stringify(filter, Object.keys(filter).sort());
        return feeds.follow(name, (from) => runsSource(filter, from), outlet);
      }
      case 'workers':
        return feeds.follow('workers', workersSource, outlet);
      case 'stats':
        return feeds.follow('stats', statsSource, outlet);
      default:
        return frame satisfies never;
    }
  }

  function unsubscribe(id: string): void {
    const subscription = subscriptions.get(id);
    subscriptions.delete(id);
    subscription?.[Symbol.dispose]();
  }

  return {
    closed: closed.promise,
    async close(why) {
      if (why === 'stopping') socket.close(1001, 'the server is stopping');
      else socket.close(UNAUTHORIZED, 'the token or session has ended');
      await closed.promise;
    },
  };
}

/** The name a broken frame gives itself, so that the client can tell which of its frames is meant. */
function idOf(frame: unknown): string | undefined {
  return Named.safeParse(frame).data?.id;
}

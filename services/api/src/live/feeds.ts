// What viewers follow on this api: each thing is read once, and once encoded, however many follow it.
import type { Bell } from '@wfg/shared/contract/bell';
import pLimit from 'p-limit';
import type pg from 'pg';
import type { Logger } from 'pino';
import { heardIn } from './heard.ts';
import { type LogFeed, logFeed } from './log-feed.ts';
import type { Outlet } from './outlet.ts';
import { createShelf } from './shelf.ts';
import { type StateFeed, stateFeed, type StateSource } from './state-feed.ts';
import type { Watch } from './watch.ts';

/** Readings at once. */
const READS = 4;
/** Of what was sent of a log, for those who come a moment later or cannot take it at the moment; and of all logs. */
const MOST_KEPT_BYTES = 4 * 1024 * 1024;
const ALL_KEPT_BYTES = 64 * 1024 * 1024;

export interface FeedSettings {
  pool: pg.Pool;
  log: Logger;
  /** How long to sleep before reading unasked, in milliseconds. */
  pollMs: () => number;
  watch: Watch;
}

export type InTurn = <T>(read: () => Promise<T>) => Promise<T>;

/** What feeds work with. */
export interface FeedContext extends FeedSettings {
  /** Reads for viewers: however many there are, they leave connections to the requests. */
  inTurn: InTurn;
  /** As much as a feed may keep of what it has sent. */
  keptBytes: () => number;
}

export interface Feeds extends AsyncDisposable {
  hear: (bell: Bell) => void;
  inTurn: InTurn;
  /** To be disposed of. */
  openLog: (run: string, job: string) => { feed: LogFeed } & Disposable;
  /** Sends a state and its changes until it is disposed of. The name is that of what the source reads. */
  follow: <T>(name: string, source: (settings: FeedSettings) => StateSource<T>, outlet: Outlet) => Disposable;
}

export function createFeeds(settings: FeedSettings): Feeds {
  const logs = createShelf<LogFeed>();
  const states = createShelf<StateFeed>();
  const inTurn = pLimit(READS);
  const keptBytes = () => Math.min(MOST_KEPT_BYTES, ALL_KEPT_BYTES / logs.count());
  const context = { ...settings, inTurn, keptBytes };
  return {
    inTurn,
    hear(bell) {
      const heard = heardIn(bell);
      logs.hear(heard);
      states.hear(heard);
    },
    openLog: (run, job) => logs.open(JSON.stringify([run, job]), () => logFeed(run, job, context)),
    follow(name, source, outlet) {
      const opened = states.open(name, () => stateFeed(source(settings), context));
      const following = opened.feed.follow(outlet);
      return {
        [Symbol.dispose]() {
          following[Symbol.dispose]();
          opened[Symbol.dispose]();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([logs[Symbol.asyncDispose](), states[Symbol.asyncDispose]()]);
    },
  };
}

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
/** Characters of a log that are kept for all who read it at about the same place; and of all logs. */
const KEPT_CHARS = 2 * 1024 * 1024;
const ALL_KEPT_CHARS = 24 * 1024 * 1024;

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
  /** As much as may be kept of a log. */
  keptChars: () => number;
}

export interface Feeds extends AsyncDisposable {
  hear: (bell: Bell) => void;
  /** To be disposed of. */
  openLog: (run: string, job: string) => { feed: LogFeed } & Disposable;
  /** Sends a state and its changes until it is disposed of. The name is that of what the source reads. */
  follow: <T>(name: string, source: (settings: FeedSettings) => StateSource<T>, outlet: Outlet) => Disposable;
}

/** All feeds of an api; disposal ends those that are still followed. */
export function createFeeds(settings: FeedSettings): Feeds {
  const logs = createShelf<LogFeed>();
  const states = createShelf<StateFeed>();
  const inTurn = pLimit(READS);
  const keptChars = () => Math.min(KEPT_CHARS, ALL_KEPT_CHARS / logs.count());
  const context = { ...settings, inTurn, keptChars };
  return {
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

// What one job prints, pushed to all who have everything before it. Who has not, or takes no more for now, reads by
// himself (log-subscription.ts) what the feed's pages hold for all of those, and joins again.
import { setImmediate } from 'node:timers/promises';
import { comparePositions, type LogPosition } from '@wfg/shared/contract/log';
import { jitter } from '@wfg/shared/rules/pause';
import { isEnded } from '@wfg/shared/rules/states';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { FeedContext } from './feeds.ts';
import { before, type LogEnd, type LogItem, logPages, type LogPages } from './log-pages.ts';
import type { Feed } from './shelf.ts';

/** Followed logs are read this often even if no bell is heard. */
const POLL_MS = 1_000;

export interface LogFollower {
  /** The last that it has. */
  place: () => LogPosition;
  /** Gets an item, perhaps one that it has. False: it takes no more for now, and has left. */
  take: (item: LogItem) => boolean;
  /** It has all there is. */
  tell: (end: LogEnd) => void;
  /** There is no such job (any more). */
  miss: () => void;
}

export interface LogFeed extends Feed {
  pages: LogPages;
  /** From now on it gets what comes. False: it lacks something of what others have. */
  join: (follower: LogFollower) => boolean;
  leave: (follower: LogFollower) => void;
}

/** Of one job of a run. It reads nothing until somebody joins. */
export function logFeed(run: string, job: string, context: FeedContext): LogFeed {
  const { log, watch } = context;
  const pages = logPages(run, job, context);
  const followers = new Set<LogFollower>();
  /** The last that was pushed, or what those who follow say they have: perhaps more than there is. */
  let place = before(0);
  let isPushed = false;
  let isMore = false;
  /** Who writes it rings for what is new. */
  let watching: Disposable | null = null;
  const loop = startLoop({ name: 'log feed', log, step });

  /** Pushes the next page. */
  async function step(): Promise<number> {
    if (followers.size === 0) return Number.POSITIVE_INFINITY;
    const from = place;
    const page = await (isMore ? pages.share(from) : pages.read(from));
    if (place !== from) return 0;
    if (!page) {
      for (const follower of followers) follower.miss();
      followers.clear();
      return Number.POSITIVE_INFINITY;
    }
    const { items, end } = page;
    const last = items.at(-1);
    isMore = end === null;
    // While this page is sent the next one is read.
    if (isMore && last) pages.share(last).catch(() => undefined);
    if (end && isEnded(end.state)) stopWatching();
    else watching ??= watch.add(pages.key());
    if (!(await push(items)) || !end) return 0;
    for (const follower of followers) follower.tell(end);
    return isEnded(end.state) ? Number.POSITIVE_INFINITY : jitter(POLL_MS);
  }

  /** False: all that followed have left meanwhile, and others began elsewhere. */
  async function push(items: readonly LogItem[]): Promise<boolean> {
    for (const item of items) {
      place = item;
      isPushed = true;
      for (const follower of followers) if (!follower.take(item)) followers.delete(follower);
      // A thousand sockets take milliseconds to write to.
      await setImmediate();
      if (place !== item) return false;
    }
    return true;
  }

  function stopWatching(): void {
    watching?.[Symbol.dispose]();
    watching = null;
  }

  return {
    pages,
    hear({ all, runs, logs }) {
      if (all || runs.has(run) || logs.has(pages.key())) loop.wake();
    },
    join(follower) {
      const isBehind = comparePositions(follower.place(), place) < 0;
      if (followers.size === 0 || (isBehind && !isPushed)) {
        place = { ...follower.place() };
        isPushed = false;
        isMore = false;
      } else if (isBehind) return false;
      followers.add(follower);
      loop.wake();
      return true;
    },
    leave: (follower) => followers.delete(follower),
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      stopWatching();
    },
  };
}

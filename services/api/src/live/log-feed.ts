// What one job prints, from where its followers are: read once, encoded once and pushed to all of them. Who is not so
// far, or takes no more for now, reads for himself (log-subscription.ts) and joins again.
import { setImmediate } from 'node:timers/promises';
import type { JobState } from '@wfg/shared/contract/job';
import { jobKey } from '@wfg/shared/contract/job-key';
import { comparePositions, type LogPosition } from '@wfg/shared/contract/log';
import { type AttemptRow, readAttempts } from '@wfg/shared/queries/attempts';
import { isEnded } from '@wfg/shared/rules/states';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { FeedContext } from './feeds.ts';
import { before, type LogItem, readItems } from './log-items.ts';
import type { Feed } from './shelf.ts';

/** Followed logs are read this often even if no bell is heard. */
const POLL_MS = 1_000;

/** What there is of an attempt was pushed. */
export interface Told {
  /** Of the job. */
  state: JobState;
  attempt: number;
  /** Its chunks, when it has ended. */
  sealed: number | null;
  /** The job has had no other since. */
  isLast: boolean;
}

export interface LogFollower {
  /** The last that it has. */
  place: () => LogPosition;
  /** Gets an item, perhaps one that it has. False: it takes no more for now, and has left. */
  take: (item: LogItem) => boolean;
  tell: (told: Told) => void;
  /** There is no such job (any more). */
  miss: () => void;
}

export interface LogFeed extends Feed {
  /** Gives it what it lacks of what is kept, and from then on what comes. False: it lacks more, or takes no more. */
  join: (follower: LogFollower) => boolean;
  leave: (follower: LogFollower) => void;
}

export function logFeed(
  run: string,
  job: string,
  { pool, log, pollMs, watch, inTurn, keptBytes }: FeedContext,
): LogFeed {
  const followers = new Set<LogFollower>();
  /** Everything between the places `start` and `end`, for those who come a moment later, or took no more for a moment. */
  let kept: { item: LogItem; bytes: number }[] = [];
  let bytes = 0;
  let start = before(0);
  let end = start;
  let key = '';
  /** Who writes it rings for what is new. */
  let watching: Disposable | null = null;
  const loop = startLoop({ name: 'log feed', log, step });

  /** Pushes the next page. */
  async function step(): Promise<number> {
    if (followers.size === 0) return Number.POSITIVE_INFINITY;
    const found = await inTurn(() => readAttempts(pool, run, job, { first: end.attempt }));
    if (!found) {
      for (const follower of followers) follower.miss();
      followers.clear();
      return Number.POSITIVE_INFINITY;
    }
    key = jobKey(found);
    const { state, attempts } = found;
    if (isEnded(state)) stopWatching();
    else watching ??= watch.add(key);
    for (const attempt of attempts) {
      const from = end;
      const { items, more } = await inTurn(() => readItems(pool, found, attempt, from));
      if (end !== from || !(await push(items)) || more) return 0;
      tell({ ...lookAt(attempt), state, isLast: attempt === attempts.at(-1) });
    }
    if (attempts.length === 0) tell({ state, attempt: end.attempt, sealed: null, isLast: true });
    return isEnded(state) ? Number.POSITIVE_INFINITY : Math.min(pollMs(), POLL_MS);
  }

  function stopWatching(): void {
    watching?.[Symbol.dispose]();
    watching = null;
  }

  function tell(told: Told): void {
    for (const follower of followers) follower.tell(told);
  }

  /** False: all that followed have left meanwhile, and others began elsewhere. */
  async function push(items: readonly LogItem[]): Promise<boolean> {
    for (const item of items) {
      end = item;
      for (const follower of followers) if (!follower.take(item)) followers.delete(follower);
      keep(item);
      // A thousand sockets take milliseconds to write to.
      await setImmediate();
      if (end !== item) return false;
    }
    return true;
  }

  function keep(item: LogItem): void {
    const held = item.frame.bytes;
    kept.push({ item, bytes: held });
    bytes += held;
    let dropped = 0;
    for (const oldest of kept) {
      if (bytes <= keptBytes()) break;
      bytes -= oldest.bytes;
      start = oldest.item;
      dropped++;
    }
    kept.splice(0, dropped);
  }

  return {
    hear({ all, runs, logs }) {
      if (all || runs.has(run) || logs.has(key)) loop.wake();
    },
    join(follower) {
      if (followers.size === 0) {
        start = end = { ...follower.place() };
        kept = [];
        bytes = 0;
      }
      if (comparePositions(follower.place(), start) < 0) return false;
      for (const { item } of kept) if (!follower.take(item)) return false;
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

function lookAt({ attempt, sealed }: AttemptRow) {
  return { attempt, sealed };
}

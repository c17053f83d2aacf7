// Something that changes, as a run or a list: read once for all who follow it, each of whom is told what differs from
// what he was told last.
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { FeedContext } from './feeds.ts';
import type { Heard } from './heard.ts';
import type { Outlet } from './outlet.ts';
import { type Frame, SharedFrame } from './shared-frame.ts';
import type { Feed } from './shelf.ts';

export interface StateSource<T> {
  /** The state as it is now; null when there is no such thing (any more). */
  read: () => Promise<T | null>;
  /** For who has been told `before`, or nothing yet (null). */
  tell: (before: T | null, now: T) => Frame[];
  /** Whether it may have changed. */
  concerns: (heard: Heard) => boolean;
  /** Until it is read unasked, in milliseconds. */
  pollMs: (now: T) => number;
  /** Between two readings there is so much time at least, in milliseconds, however often bells ring. */
  restMs: (tookMs: number) => number;
  /** What to say when there is no such thing; of what always is, nothing. */
  missing?: string;
}

export interface StateFeed extends Feed {
  /** Sends the state as it is read next, then what changes, until it is disposed of. */
  follow: (outlet: Outlet) => Disposable;
}

interface Follower<T> {
  outlet: Outlet;
  /** What he was told. */
  sent: T | null;
  isSending: boolean;
}

/** Reads only while somebody follows it. */
export function stateFeed<T>(source: StateSource<T>, { log, inTurn }: FeedContext): StateFeed {
  const followers = new Set<Follower<T>>();
  let now: T | null = null;
  /** For `now`, by what its reader was told before. */
  const told = new Map<T | null, SharedFrame[]>();

  const loop = startLoop({
    name: 'state feed',
    log,
    async step(signal) {
      // Whoever comes while it is being read has the next reading: this one may be of before he asked.
      const readers = [...followers];
      if (readers.length === 0) return Number.POSITIVE_INFINITY;
      const startedAt = performance.now();
      const read = await inTurn(source.read);
      if (read === null) {
        for (const { outlet } of readers)
          outlet.refuse('not_found', source.missing ?? 'there is nothing to follow');
        return Number.POSITIVE_INFINITY;
      }
      now = read;
      told.clear();
      for (const reader of readers) send(reader).catch((error: unknown) => fail(reader, error));
      const restMs = source.restMs(performance.now() - startedAt);
      await sleep(restMs, undefined, { signal }).catch(() => undefined);
      return source.pollMs(read);
    },
  });

  /** Tells what differs, and then again what differs by then: who is slow is told less often. */
  async function send(follower: Follower<T>): Promise<void> {
    if (follower.isSending) return;
    follower.isSending = true;
    const { outlet } = follower;
    for (let next = due(follower); next !== null; next = due(follower)) {
      for (const frame of framesFor(follower.sent, next)) {
        await outlet.inTurn(async () => {
          await outlet.room();
          outlet.send(frame);
        });
      }
      follower.sent = next;
    }
    follower.isSending = false;
  }

  /** What he is to be told next; null when he has been told all, or has left. */
  function due(follower: Follower<T>): T | null {
    return followers.has(follower) && follower.sent !== now ? now : null;
  }

  function fail(follower: Follower<T>, error: unknown): void {
    log.error({ err: error }, 'what changed cannot be told');
    follower.outlet.refuse('internal', 'what changed cannot be told: subscribe again');
  }

  function framesFor(before: T | null, next: T): SharedFrame[] {
    const known = told.get(before);
    if (known) return known;
    const frames = source.tell(before, next).map((frame) => new SharedFrame(frame));
    told.set(before, frames);
    return frames;
  }

  return {
    hear(heard) {
      if (source.concerns(heard)) loop.wake();
    },
    follow(outlet) {
      const follower: Follower<T> = { outlet, sent: null, isSending: false };
      followers.add(follower);
      loop.wake();
      return { [Symbol.dispose]: () => followers.delete(follower) };
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

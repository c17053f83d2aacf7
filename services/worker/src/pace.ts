// How busy a claimer is, a worker's own or a handler host's, and so how it looks for jobs: rung for, or, while it has much to
// do, by itself. It says so, and then nobody has to ring for it (wfg_must_ring).
import type { Why } from './take-jobs.ts';

/** So many claims within a second that found something make it hot. */
const HOT_CLAIMS = 10;
const HOT_WINDOW_MS = 1_000;
/** How soon a hot one looks again when it found nothing. */
const HOT_POLL_MS = 20;
/** It says again that it is hot as often. */
const TELL_MS = 1_000;
/** As long after it has said so it keeps looking: what it said may be written a second later, and hold for two. */
const TRUE_MS = 3_500;
/** Full for so long: short jobs fill it again and again. */
const FULL_MS = 1_000;

/** What is told of a claimer. */
export interface Busy {
  hot: boolean;
  full: boolean;
}

export interface Pace {
  /** Why it looks now, after a look that it was not woken from. */
  unasked: () => Why;
  /** It has claimed; returns how long to sleep, in milliseconds. */
  claimed: (found: boolean, isFull: boolean) => number;
  /** It has no free place, and so made no claim; returns how long to sleep. */
  full: () => number;
}

/** `tell` is called about once a second while it is hot, and when `full` changes. */
export function createPace(tell: (busy: Busy) => void): Pace {
  /** When the last claims found something. */
  let finds: number[] = [];
  let hotToldAt = Number.NEGATIVE_INFINITY;
  let fullSince: number | null = null;
  let isFullTold = false;

  function isHot(now: number): boolean {
    return finds.length === HOT_CLAIMS && now - (finds[0] ?? 0) < HOT_WINDOW_MS;
  }

  function sayFull(full: boolean): void {
    if (full !== isFullTold) tell({ hot: false, full });
    isFullTold = full;
  }

  const isTrue = (now: number) => now - hotToldAt < TRUE_MS;

  function full(): number {
    const now = performance.now();
    fullSince ??= now;
    const leftMs = fullSince + FULL_MS - now;
    if (leftMs > 0) return leftMs;
    sayFull(true);
    return Number.POSITIVE_INFINITY;
  }

  return {
    unasked: () => (isTrue(performance.now()) ? 'hot' : 'poll'),
    claimed(found, isFull) {
      const now = performance.now();
      if (found) finds = [...finds, now].slice(-HOT_CLAIMS);
      if (isHot(now) && now - hotToldAt > TELL_MS) {
        hotToldAt = now;
        tell({ hot: true, full: isFullTold });
      }
      if (isFull) return full();
      fullSince = null;
      sayFull(false);
      return isTrue(now) ? HOT_POLL_MS : Number.POSITIVE_INFINITY;
    },
    full,
  };
}

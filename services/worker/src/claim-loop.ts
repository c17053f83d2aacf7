// The loop of a claimer, a worker's own or a handler host's: it fills its free places when it is woken, when one becomes free,
// and, while it has much to do, by itself.
import { type Loop, startLoop } from '@wfg/shared/runtime/loop';
import type { Logger } from 'pino';
import { type Busy, createPace } from './pace.ts';
import type { Why } from './take-jobs.ts';

/** It looks at least as often, for the sake of what is prepared. */
const LONGEST_MS = 600_000;

interface ClaimLoopSettings {
  /** Before each look: what else is to be done; returns how long not to claim, in milliseconds, 0 to go on. */
  prepare: (signal: AbortSignal) => Promise<number>;
  /** How many places are free. */
  free: () => number;
  /** Claims so many at most and begins them; returns how many there were. */
  take: (limit: number, why: Why) => Promise<number>;
  /** Told of how busy it is. */
  tell: (busy: Busy) => void;
  log: Logger;
}

export interface ClaimLoop extends Omit<Loop, 'wake'> {
  /** Looks now; without a free place it does nothing. */
  look: (why: Why) => void;
}

/** It looks when it starts; disposal claims nothing more. */
export function startClaimLoop({ prepare, free, take, tell, log }: ClaimLoopSettings): ClaimLoop {
  const pace = createPace(tell);
  let asked: Why | null = null;

  async function step(signal: AbortSignal): Promise<number> {
    const waitMs = await prepare(signal);
    if (waitMs > 0) return waitMs;
    const limit = free();
    if (limit === 0) return Math.min(pace.full(), LONGEST_MS);
    const why = asked ?? pace.unasked();
    asked = null;
    const found = await take(limit, why);
    return Math.min(pace.claimed(found > 0, free() === 0), LONGEST_MS);
  }

  const loop = startLoop({ name: 'claim', log, step });
  return {
    look(why) {
      asked = why;
      loop.wake();
    },
    problem: loop.problem,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

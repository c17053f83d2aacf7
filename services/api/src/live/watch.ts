// Tells the writers of logs which of them are followed here: at once of one that was not, and every 5 s of all.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { jitter } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Logger } from 'pino';

/** A writer remembers it for 15 s. */
const RING_MS = 5_000;
/** Job keys in one bell: a payload with room for other hints. */
const MOST_KEYS = 100;

export interface Watch extends AsyncDisposable {
  /** Somebody follows the log of this job from now on, until what is returned is disposed of. */
  add: (jobKey: string) => Disposable;
}

export function createWatch(doorbell: Doorbell, log: Logger, ringMs = RING_MS): Watch {
  const viewers = new Map<string, number>();
  /** To be rung for. */
  const due = new Set<string>();
  let nextRoundAt = Number.POSITIVE_INFINITY;
  const ringing = startLoop({ name: 'watch', log, step: ring });

  async function ring(): Promise<number> {
    if (performance.now() >= nextRoundAt) {
      for (const key of viewers.keys()) due.add(key);
      nextRoundAt = Number.POSITIVE_INFINITY;
    }
    const keys = [...due].slice(0, MOST_KEYS);
    for (const key of keys) due.delete(key);
    if (keys.length > 0) doorbell.ring({ watch: keys });
    // Bells that wait are merged, so the next list has to wait until this one is gone.
    await doorbell.flush();
    if (due.size > 0) return 0;
    if (viewers.size === 0) nextRoundAt = Number.POSITIVE_INFINITY;
    else if (nextRoundAt === Number.POSITIVE_INFINITY) nextRoundAt = performance.now() + jitter(ringMs);
    return nextRoundAt - performance.now();
  }

  function leave(key: string): void {
    const others = (viewers.get(key) ?? 0) - 1;
    if (others > 0) viewers.set(key, others);
    else viewers.delete(key);
    if (others <= 0) due.delete(key);
  }

  return {
    add(key) {
      const others = viewers.get(key) ?? 0;
      viewers.set(key, others + 1);
      if (others === 0) {
        due.add(key);
        ringing.wake();
      }
      let isOver = false;
      return {
        [Symbol.dispose]() {
          if (!isOver) leave(key);
          isOver = true;
        },
      };
    },
    [Symbol.asyncDispose]: () => ringing[Symbol.asyncDispose](),
  };
}

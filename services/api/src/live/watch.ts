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

/** Rings by `doorbell`, and again after about `ringMs` milliseconds for as long as something is followed. */
export function createWatch(doorbell: Doorbell, log: Logger, ringMs = RING_MS): Watch {
  /** One for each who follows: of a job's feeds one may begin while another ends. */
  const followed = new Set<{ key: string }>();
  /** To be rung for. */
  const due = new Set<string>();
  let nextRoundAt = Number.NEGATIVE_INFINITY;
  const ringing = startLoop({ name: 'watch', log, step: ring });

  async function ring(): Promise<number> {
    const now = performance.now();
    if (now >= nextRoundAt) {
      for (const { key } of followed) due.add(key);
      nextRoundAt = now + jitter(ringMs);
    }
    const keys = [...due].slice(0, MOST_KEYS);
    for (const key of keys) due.delete(key);
    if (keys.length > 0) doorbell.ring({ watch: keys });
    // Bells that wait are merged, so the next list has to wait until this one is gone.
    await doorbell.flush();
    if (due.size > 0) return 0;
    return followed.size === 0 ? Number.POSITIVE_INFINITY : nextRoundAt - performance.now();
  }

  return {
    add(key) {
      const one = { key };
      followed.add(one);
      due.add(key);
      ringing.wake();
      return { [Symbol.dispose]: () => followed.delete(one) };
    },
    [Symbol.asyncDispose]: () => ringing[Symbol.asyncDispose](),
  };
}

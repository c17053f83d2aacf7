// Why an attempt is ended before its command ends by itself: the first reason counts.

import { messageOf } from '@wfg/shared/rules/message-of';
import { after } from './long-timer.ts';

interface Stop {
  outcome: 'timed_out' | 'killed';
  error: string;
}

export interface Stopper extends Disposable {
  reason: Stop | null;
  /** Resolves when there is a reason. */
  stopped: Promise<void>;
  stop: (reason: Stop) => void;
  /** Stops when the time is over, unless disposed of before; null is no limit. */
  limit: (secs: number | null) => Disposable;
}

/** Stops by itself after a time, and when `signal` is aborted, whose reason is shown to the user. */
export function createStopper(signal: AbortSignal, timeoutSecs: number | null): Stopper {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onAbort = () => stopper.stop({ outcome: 'killed', error: messageOf(signal.reason) });
  const stopper: Stopper = {
    reason: null,
    stopped: promise,
    stop(reason) {
      stopper.reason ??= reason;
      resolve();
    },
    limit(secs) {
      if (secs === null) return { [Symbol.dispose]: () => undefined };
      const reason: Stop = { outcome: 'timed_out', error: `timeout after ${secs}s: ` };
      return after(secs * 1_000, () => stopper.stop(reason));
    },
    [Symbol.dispose]() {
      signal.removeEventListener('abort', onAbort);
      limit[Symbol.dispose]();
    },
  };
  const limit = stopper.limit(timeoutSecs);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort);
  return stopper;
}

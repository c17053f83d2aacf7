// Asks for something again and again while the page is seen; what was known stays when an answer fails.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { messageOf } from './api/call.ts';

interface Poll<T> {
  /** The last good answer; null until the first. */
  data: Signal<T | null>;
  /** Why the last question failed; null when it did not. */
  problem: Signal<string | null>;
}

/** Loads at once and about every `everyMs`; anew from the start when `key` changes. */
export function usePoll<T>(key: string, load: (signal: AbortSignal) => Promise<T>, everyMs: number): Poll<T> {
  const data = useSignal<T | null>(null);
  const problem = useSignal<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    data.value = null;
    problem.value = null;
    void (async () => {
      while (!stop.signal.aborted) {
        try {
          const answer = await load(stop.signal);
          if (stop.signal.aborted) return;
          data.value = answer;
          problem.value = null;
        } catch (error) {
          if (!stop.signal.aborted) problem.value = messageOf(error);
        }
        // Jitter, so that many open tabs do not ask in step.
        await nextTurn(everyMs * (0.9 + Math.random() * 0.2), stop.signal);
      }
    })();
    return () => stop.abort();
  }, [key]);
  return { data, problem };
}

/** Settles once `ms` have passed and the page is seen, or at once when `stop` says so. */
function nextTurn(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settled = new AbortController();
    let rested = false;
    const check = () => {
      if (!stop.aborted && !(rested && document.visibilityState === 'visible')) return;
      clearTimeout(timer);
      settled.abort();
      resolve();
    };
    const timer = setTimeout(() => {
      rested = true;
      check();
    }, ms);
    document.addEventListener('visibilitychange', check, { signal: settled.signal });
    stop.addEventListener('abort', check, { signal: settled.signal });
  });
}

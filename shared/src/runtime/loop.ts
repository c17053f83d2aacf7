// The one kind of background loop: do a step, sleep as long as it says or until woken, again.

import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { adviceOf, explained } from '../db/advice.ts';
import { retryPause } from '../rules/pause.ts';
import { failedSteps } from './counters.ts';
import { isNews } from './telling.ts';

/** Node fires at once for anything longer. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1;
/** Characters of an error's message, and of what to do about it, that /ready repeats. */
const LONGEST_REASON = 300;

interface LoopSettings {
  name: string;
  /**
   * Does one bounded piece of work and returns how many milliseconds to sleep before the next: 0 if there is
   * more to do. The signal is aborted when the loop is disposed of.
   */
  step: (signal: AbortSignal) => Promise<number>;
  /** The longest pause after a failure; by default 5 s. */
  longestRetryMs?: number;
  log: Logger;
}

/** What its steps fail of at the moment. */
interface Failing {
  since: number;
  why: string;
  /** As a warning. */
  isTold: boolean;
}

export interface Loop extends AsyncDisposable {
  /** Starts the next step now; during a step, exactly one more follows at once. */
  wake: () => void;
  /** Since when its steps fail, and why the last one did, for /ready; null while they succeed. */
  problem: () => string | null;
}

/**
 * Starts with a step at once. Steps never overlap. A step that throws is repeated after 0.2 s to 5 s (or `longestRetryMs`), during which a
 * wake-up waits too. Why it did is logged: as a warning once a minute, whichever loops of the process it befalls, and what
 * works again too. Disposal resolves when the step that is running has ended.
 */
export function startLoop({ name, step, longestRetryMs, log }: LoopSettings): Loop {
  const stopping = new AbortController();
  let woken = false;
  let rouse = new AbortController();
  let failures = 0;
  let failing: Failing | null = null;

  async function pause(ms: number): Promise<void> {
    if (ms <= 0 || woken || stopping.signal.aborted) return setImmediate();
    rouse = new AbortController();
    await sleep(Math.min(ms, LONGEST_SLEEP_MS), undefined, { signal: rouse.signal }).catch(() => undefined);
  }

  /** One step; after an error, the time until it may be tried again has passed too. */
  async function stepSafely(): Promise<number> {
    try {
      const ms = await step(stopping.signal);
      failures = 0;
      if (failing?.isTold) log.info({ loop: name, failed_ms: ageOf(failing) }, 'step works again');
      failing = null;
      return ms;
    } catch (err) {
      if (stopping.signal.aborted) return 0;
      failedSteps.inc({ loop: name });
      const why = explained(err).slice(0, LONGEST_REASON);
      const retryMs = retryPause(++failures, longestRetryMs);
      const isTold = isNews(why);
      failing = {
        since: failing?.since ?? performance.now(),
        why,
        isTold: isTold || failing?.isTold === true,
      };
      const fields = { err, advice: adviceOf(err), loop: name, retry_ms: Math.round(retryMs) };
      log[isTold ? 'warn' : 'debug'](fields, 'step failed');
      await sleep(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      return 0;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = false;
      await pause(await stepSafely());
    }
  }

  const ended = run();
  return {
    wake() {
      woken = true;
      rouse.abort();
    },
    problem() {
      if (failing === null) return null;
      return `${name}: failing for ${Math.floor(ageOf(failing) / 1_000)} s: ${failing.why}`;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      rouse.abort();
      await ended;
    },
  };
}

/** Milliseconds. */
function ageOf({ since }: Failing): number {
  return Math.round(performance.now() - since);
}

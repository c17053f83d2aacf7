// Looks at something again and again while a test does other things.
import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `look` with so many milliseconds between two of them, until disposed of. One that fails saw nothing. */
export function sampleEach(ms: number, look: () => Promise<void>): AsyncDisposable {
  const stopping = new AbortController();

  async function sample(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look().catch(() => undefined);
      await sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const sampling = sample();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await sampling;
    },
  };
}

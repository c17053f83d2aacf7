// Waits for a condition instead of for a time.

import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

const POLL_MS = 20;

/**
 * Calls `probe` every 20 ms until it returns something truthy, and returns that. A probe that throws counts
 * as not yet. After `limitMs` it throws, saying what was awaited and what the probe came to last.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  limitMs = 30_000,
): Promise<Exclude<T, undefined | null | false | 0 | ''>> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    let last: unknown;
    try {
      const value = await probe();
      if (isTruthy(value)) return value;
      last = value;
    } catch (err) {
      last = err;
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${limitMs} ms for ${what}; at last: ${inspect(last, { depth: 4 })}`, {
        cause: last instanceof Error ? last : undefined,
      });
    }
    await sleep(POLL_MS);
  }
}

function isTruthy<T>(value: T): value is Exclude<T, undefined | null | false | 0 | ''> {
  return Boolean(value);
}

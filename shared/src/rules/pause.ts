// How long to wait before looking or trying again, spread out so that many processes do not act at once.

const FIRST_RETRY_MS = 200;
export const LONGEST_RETRY_MS = 5_000;

/** A random time of 75 to 100 % of `ms`: spread out, and never beyond the bound it was made from. */
export function jitter(ms: number): number {
  return ms * (0.75 + Math.random() * 0.25);
}

/** Milliseconds to wait after the n-th failure in a row (from 1): doubling from `firstMs` to `longestMs`, with jitter. */
export function retryPause(failures: number, longestMs = LONGEST_RETRY_MS, firstMs = FIRST_RETRY_MS): number {
  return jitter(Math.min(firstMs * 2 ** (failures - 1), longestMs));
}

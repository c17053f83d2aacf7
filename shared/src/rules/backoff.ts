// The wait before a retry, as wfg_backoff() computes it in SQL (which adds the jitter).
import type { Backoff } from '../contract/workflow.ts';

/**
 * Seconds before the n-th retry (n from 1), without jitter: 0, the fixed delay, or min(base * 2^(n-1), max).
 */
export function backoffSeconds(backoff: Backoff, n: number): number {
  if (backoff === 'None') return 0;
  if ('Fixed' in backoff) return backoff.Fixed.delay_secs;
  const { base_secs, max_secs } = backoff.Exponential;
  return Math.min(base_secs * 2 ** Math.min(n - 1, 60), max_secs);
}

// What the n-th job of a load does: by its number alone, so that all loads are mixed alike.
import type { Backoff } from '@wfg/shared/contract/backoff';

export interface Plan {
  lines: number;
  /** From its first line to its end. */
  ms: number;
  /** So many tries fail; all, if it is Infinity. */
  fails: number;
  /** So long after it was accepted it is cancelled. */
  cancelMs: number | null;
}

/** Longer than a lease. */
const LONG_MS = 3_500;

const CANCEL_MS = 1_000;

export function planOf(n: number): Plan {
  const lines = 4 + (n % 7);
  if (n % 25 === 18) return { lines, ms: LONG_MS, fails: 0, cancelMs: CANCEL_MS };
  const fails = n % 25 === 12 ? Number.POSITIVE_INFINITY : n % 10 === 7 ? 1 : 0;
  return { lines, ms: n % 10 === 3 ? LONG_MS : 50 + (n % 5) * 100, fails, cancelMs: null };
}

/** As JSON and shells can have it. */
export function failsOf({ fails }: Plan): number {
  return Math.min(fails, 1_000);
}

/** Enough for all that faults take. */
export const BUDGET = 20;
/** Of what fails each time. */
export const HOPELESS_BUDGET = 2;

export function budgetOf({ fails }: Plan): number {
  return fails === Number.POSITIVE_INFINITY ? HOPELESS_BUDGET : BUDGET;
}

export const BACKOFF: Backoff = 'None';

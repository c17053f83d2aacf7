// A kind of work, offered one by one.
import type { Client } from '@wfg/shared/client/client';
import type { Item } from '../history.ts';
import type { Plan } from '../plan.ts';

export interface Load {
  name: string;
  /** How many are offered at most to find out how many the cluster does in a second. */
  burst: number;
  /** Asks the api for the n-th under an idempotency key; returns the id of its run. */
  offer: (offer: Offer) => Promise<string>;
  /** What is to become of it, if it was cancelled or not. */
  expected: (plan: Plan, isCancelled: boolean) => Omit<Item, 'run'>;
}

export interface Offer {
  wfg: Client;
  plan: Plan;
  key: string;
  /** The file that executions write to. */
  trail: string;
}

/** The end of what is a single job. */
export function endOf({ fails }: Plan, isCancelled: boolean): Item['state'] {
  if (isCancelled) return 'cancelled';
  return fails === Number.POSITIVE_INFINITY ? 'failed' : 'completed';
}

/** An api that does not answer in this time is asked again. */
export const ANSWER_MS = 4_000;

export function given({ key }: Offer): { headers: { 'idempotency-key': string }; timeoutMs: number } {
  return { headers: { 'idempotency-key': key }, timeoutMs: ANSWER_MS };
}

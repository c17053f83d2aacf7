// What a bell means to a worker: which of its claimers look for jobs.
import type { Bell } from '@wfg/shared/contract/bell';
import { covers, isChosen, type Peer } from '@wfg/shared/rules/chosen';
import type { Fits } from './handler-host.ts';

/**
 * Calls `look` if something was rung for that this worker is one of those to look for: once, however many lanes the bell
 * names, for a claim looks into all of them, and each look of a handler host is a message to its process.
 */
export function hearLanes(
  { all, lanes = {}, requires = {}, nonce }: Bell,
  workerId: string,
  peers: readonly Peer[],
  look: (fits: Fits) => void,
): void {
  const wanted: (readonly string[])[] = all ? [[]] : [];
  for (const [lane, count] of Object.entries(lanes)) {
    const required = requires[lane];
    // What is not told may be for any.
    if (required === undefined) wanted.push([]);
    else if (nonce === undefined || isChosen(workerId, peers, required, count, nonce)) wanted.push(required);
  }
  if (wanted.length > 0) look((offered) => wanted.some((required) => covers(offered, required)));
}

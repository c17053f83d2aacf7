// What a bell means to a worker: which of its claimers look for jobs.
import type { Bell } from '@wfg/shared/contract/bell';
import { covers, isChosen, type Peer } from '@wfg/shared/rules/chosen';
import type { Fits } from './handler-host.ts';

/** Calls `look` for each thing that was rung for and that this worker is one of those to look for. */
export function hearLanes(
  { all, lanes = {}, requires, nonce }: Bell,
  workerId: string,
  peers: readonly Peer[],
  look: (fits: Fits) => void,
): void {
  if (all) return look(() => true);
  for (const [lane, count] of Object.entries(lanes)) {
    const required = requires?.[lane];
    if (required === undefined) look(() => true);
    else if (nonce === undefined || isChosen(workerId, peers, required, count, nonce))
      look((offered) => covers(offered, required));
  }
}

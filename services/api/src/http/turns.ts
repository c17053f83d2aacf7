// Lets so many requests be worked on at once: a burst of more waits its turn, and does not keep sockets and timers from
// theirs. So many may wait; who comes then is sent away.
import { WfgError } from '@wfg/shared/contract/problem';
import pLimit from 'p-limit';
import { problemResponse } from './problems.ts';

export interface TurnSettings {
  atOnce: number;
  waiting: number;
}

/** Does the work when its turn comes; not at all if `gone` says by then that it has been answered already. */
export type TakeTurn = (gone: AbortSignal, work: () => Promise<Response>) => Promise<Response>;

export function turns({ atOnce, waiting }: TurnSettings): TakeTurn {
  const turn = pLimit(atOnce);
  return async (gone, work) => {
    if (turn.activeCount + turn.pendingCount >= atOnce + waiting) {
      return refusal('too many requests wait already: try again');
    }
    return turn(async () => (gone.aborted ? refusal('answered already') : work()));
  };
}

function refusal(detail: string): Response {
  return problemResponse(new WfgError('unavailable', detail));
}

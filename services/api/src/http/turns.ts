// Lets so many requests be worked on at once: a burst of more waits its turn, and does not keep sockets and timers from
// theirs. So many may wait; who comes then is sent away.
import { WfgError } from '@wfg/shared/contract/problem';
import pLimit from 'p-limit';

export interface TurnSettings {
  atOnce: number;
  waiting: number;
}

/**
 * Does the work when its turn comes; not at all if `gone` says by then that it has been answered already.
 *
 * @throws {WfgError} unavailable, when it is not done.
 */
export type TakeTurn = <T>(gone: AbortSignal, work: () => Promise<T>) => Promise<T>;

export function turns({ atOnce, waiting }: TurnSettings): TakeTurn {
  const turn = pLimit(atOnce);
  return async (gone, work) => {
    if (turn.activeCount + turn.pendingCount >= atOnce + waiting) {
      throw refusal('too many requests wait already: try again');
    }
    return turn(async () => {
      if (gone.aborted) throw refusal('answered already');
      return work();
    });
  };
}

function refusal(detail: string): WfgError {
  return new WfgError('unavailable', detail);
}

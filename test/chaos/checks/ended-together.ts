// known fault 24: whenever somebody looked, a run had ended if all its jobs had, and not before. Between the end of the
// last job and that of its run a scheduler is still to look: it is marked so that it will.
import type { SeenRun } from '../../support/watch-runs.ts';

export function endedTogether(seen: readonly SeenRun[]): string[] {
  return seen.flatMap(({ run, state, going, is_unsettled }) => {
    if (state !== 'open') return going > 0 ? [`${run}: was ${state} while ${going} of its jobs went on`] : [];
    const isForgotten = going === 0 && !is_unsettled;
    return isForgotten ? [`${run}: was open when all its jobs had ended, and nobody was to look`] : [];
  });
}

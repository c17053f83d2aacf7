// The history checker: file, rows, attempts, events and logs must tell one story.
import type { History } from '../history.ts';
import { endedOnce } from './ended-once.ts';
import { endedTogether } from './ended-together.ts';
import { executed } from './executed.ts';
import { inOrder } from './in-order.ts';
import { noOverlap } from './no-overlap.ts';
import { nothingLeft } from './nothing-left.ts';
import { toldInOrder } from './told-in-order.ts';
import { tries } from './tries.ts';
import { wholeLogs } from './whole-logs.ts';

export interface Verdict {
  /** What each check found; all are empty when all is well. */
  faults: Record<string, string[]>;
  /** Faults of jobs that did not end as they had to. */
  lost: number;
  /** Faults of jobs that were executed or made more often than allowed. */
  doubled: number;
  lostLines: number;
}

export function check(history: History): Verdict {
  const logs = wholeLogs(history);
  const faults = {
    'ended once': endedOnce(history),
    'ended together': endedTogether(history.seenRuns),
    'nothing left': nothingLeft(history),
    executed: executed(history),
    'no overlap': noOverlap(history),
    tries: tries(history),
    'in order': inOrder(history),
    'whole logs': logs.faults,
    'told in order': toldInOrder(history),
  };
  return {
    faults,
    lost: faults['ended once'].length + faults['nothing left'].length,
    doubled: faults.executed.length + faults['no overlap'].length,
    lostLines: logs.lostLines,
  };
}

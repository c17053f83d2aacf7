// A bell as many look at it.
import type { Bell } from '@wfg/shared/contract/bell';

export interface Heard {
  runs: ReadonlySet<string>;
  /** Job keys. */
  logs: ReadonlySet<string>;
  /** It may be about anything. */
  all: boolean;
}

export function heardIn({ runs, logs, all }: Bell): Heard {
  return { runs: new Set(runs), logs: new Set(logs), all: all === true };
}

// A bell as many look at it.
import type { Bell } from '@wfg/shared/contract/bell';

export interface Heard {
  runs: ReadonlySet<string>;
  /** Job keys. */
  logs: ReadonlySet<string>;
  /** Something has begun, ended or come, perhaps of a run that it does not name. */
  isWork: boolean;
  /** It may be about anything. */
  all: boolean;
}

/** For feeds, each of which asks whether it is concerned. */
export function heardIn({ runs = [], logs = [], lanes, cancel, settle, all }: Bell): Heard {
  const isWork = runs.length > 0 || lanes !== undefined || cancel !== undefined || settle === true;
  return { runs: new Set(runs), logs: new Set(logs), isWork, all: all === true };
}

// One look of the reaper at what there is to do, which begins it: each thing is done by a loop of its own, so that none
// that fails, or takes long, keeps another waiting, or the next look.
import type { Queryable } from '@wfg/shared/db/pool';
import { lookForOverdue } from '@wfg/shared/queries/overdue';
import type { Logger } from 'pino';
import type { Counting } from './counting.ts';

export interface Sweep {
  pool: Queryable;
  log: Logger;
  /** Until the next look, at most. */
  intervalSecs: number;
  /** Begins what there is to do, if it has not begun. */
  begin: Record<'leases' | 'jobs' | 'runs', () => void>;
  counting: Pick<Counting, 'see'>;
}

export async function sweep({ pool, log, intervalSecs, begin, counting }: Sweep): Promise<void> {
  const found = await lookForOverdue(pool, intervalSecs);
  if (found.resumed) log.warn('after an outage each lease lasts its own time once more');
  if (found.leases) begin.leases();
  if (found.waiting) begin.jobs();
  if (found.runs) begin.runs();
  counting.see(found);
}

// What the workers that are there offer.
import type { JobState } from '../contract/job.ts';
import type { Queryable } from '../db/pool.ts';
import type { Offers } from '../rules/no-worker.ts';
import { OFFLINE_AFTER_SECS } from './workers.ts';

// Commands are what every worker runs; a handler is offered as the label that its events require, a task likewise.
const READ = `
select distinct w.labels || array[':command'] || array(select ':event ' || type from unnest(w.handlers) as h (type))
    || array(select ':task ' || name from unnest(w.tasks) as t (name)) as labels
from wfg_workers w
where w.last_heartbeat >= wfg_now() - make_interval(secs => ${OFFLINE_AFTER_SECS}) and not w.draining`;

/** What each live worker offers that takes jobs; read only if one of these jobs is due and not taken. */
export async function readOffers(
  db: Queryable,
  jobs: readonly { state: JobState; run_at: Date }[],
  now: Date,
): Promise<Offers> {
  if (!jobs.some(({ state, run_at }) => state === 'pending' && run_at <= now)) return [];
  const { rows } = await db.query<{ labels: string[] }>(READ);
  return rows.map(({ labels }) => new Set(labels));
}

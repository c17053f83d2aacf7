// What the workers that are there offer, and whether they have a place for it.
import type { JobState } from '../contract/job.ts';
import type { Queryable } from '../db/pool.ts';
import type { Offers } from '../rules/no-worker.ts';
import { CLAIMED_SINCE } from './worker-list.ts';
import { OFFLINE_AFTER_SECS } from './workers.ts';

// A worker of our own has places for commands, and others for what each of its modules handles; one over HTTP has one for
// whatever it offers. What an older version can run at once is not known: it is never full. What is taken is counted from
// the jobs' rows, all at once. Alike workers are told as one, so that the answer stays short:
// of 1,000 workers that run 10,000 jobs it takes 30 ms of a core.
const READ = `
with live as materialized (
  select * from wfg_workers w
  where w.last_heartbeat >= wfg_now() - make_interval(secs => ${OFFLINE_AFTER_SECS}) and not w.draining
), offer as (
  select w.worker_id, w.labels, array[':command'] as kinds, w.concurrency as places
  from live w where w.handler_concurrency is not null
  union all
  select w.worker_id, w.labels, array(select json_array_elements_text(module)), w.handler_concurrency
  from live w cross join lateral json_array_elements(w.modules) as module
  where w.handler_concurrency is not null
  union all
  select w.worker_id, w.labels, array[':command'] || array(select ':event ' || type from unnest(w.handlers) as h (type))
      || array(select ':task ' || name from unnest(w.tasks) as t (name)),
    case when w.instance is null then w.concurrency end
  from live w where w.handler_concurrency is null
), held as materialized (
  select j.worker_id, case j.kind when 'command' then ':command' else format(':%s %s', j.kind, j.workflow_type) end as kind,
    count(*) as jobs
  from wfg_workers w join wfg_jobs j on j.worker_id = w.worker_id and j.state = 'active' and ${CLAIMED_SINCE('w')}
  group by 1, 2
), told as (
  select o.labels || o.kinds as labels, o.places, coalesce(sum(h.jobs), 0) as taken
  from offer o left join held h on h.worker_id = o.worker_id and h.kind = any(o.kinds)
  group by o.worker_id, o.labels, o.kinds, o.places
)
select labels, count(*)::int as workers, coalesce(sum(places), 0)::int as places,
  bool_and(coalesce(taken >= places, false)) as "isFull"
from told
group by labels`;

/** What live workers offer that take jobs; read only if one of these jobs is due and not taken. */
export async function readOffers(
  db: Queryable,
  jobs: readonly { state: JobState; run_at: Date }[],
  now: Date,
): Promise<Offers> {
  if (!jobs.some(({ state, run_at }) => state === 'pending' && run_at <= now)) return [];
  type Row = { labels: string[]; workers: number; places: number; isFull: boolean };
  const { rows } = await db.query<Row>(READ);
  return rows.map((row) => ({ ...row, labels: new Set(row.labels) }));
}

// The workers that are known, with what each is running.
import type { Worker } from '../contract/worker.ts';
import type { Queryable } from '../db/pool.ts';
import { statusOf } from './workers.ts';

const MOST = 1_000;

/**
 * As SQL: the active job `j` was claimed or renewed since this worker registered, which has nothing of what it held before
 * it was started anew.
 */
export const CLAIMED_SINCE = (worker: string) =>
  `j.lease_expires_at - make_interval(secs => j.lease_secs) >= ${worker}.registered_at`;

const LIST = `
select w.worker_id, w.labels, w.handlers, w.tasks, w.version, w.host, w.concurrency, w.problem,
  ${statusOf('running.jobs is not null')} as status,
  running.jobs,
  floor(extract(epoch from w.registered_at) * 1000)::bigint as registered_at_ms,
  floor(extract(epoch from w.last_heartbeat) * 1000)::bigint as last_heartbeat_ms
from (select * from wfg_workers order by registered_at desc, worker_id limit $1::int) w
left join lateral (
  select json_agg(json_build_object('run_id', j.run_id, 'job_id', j.job_id, 'attempt', j.attempt,
    'since', j.started_at) order by j.started_at) as jobs
  from wfg_jobs j
  where j.worker_id = w.worker_id and j.state = 'active' and ${CLAIMED_SINCE('w')}
) running on true
order by w.registered_at desc, w.worker_id`;

interface Row extends Omit<Worker, 'jobs' | 'current_job'> {
  jobs: Worker['jobs'] | null;
}

/** Workers, the newest first, at most 1,000. */
export async function listWorkers(db: Queryable): Promise<Worker[]> {
  const { rows } = await db.query<Row>(LIST, [MOST]);
  return rows.map((row) => {
    const jobs = row.jobs?.map((job) => ({ ...job, since: new Date(job.since).toISOString() })) ?? [];
    const labels = row.labels.filter((label) => !label.startsWith(':'));
    return { ...row, labels, jobs, current_job: jobs[0]?.job_id ?? null };
  });
}

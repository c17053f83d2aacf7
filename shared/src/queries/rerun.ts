// Makes a new run from the jobs of an ended one: what is not executed again is taken over as it ended.
import { WfgError } from '../contract/problem.ts';
import type { Queryable } from '../db/pool.ts';
import { chooseRerun, type EndedJob } from '../rules/rerun.ts';
import { OWN_TIME } from './expire.ts';
import { MOVED_ON } from './run-row.ts';
import type { Submitted } from './submit.ts';

// What a run submitted by SQL is to execute is written into its jobs when a scheduler reads it; one that was refused has
// an error without a timeout.
const RUN = `
select r.state, r.timed_out_at is null and r.error is not null as is_refused,
  exists (select from wfg_jobs j where j.run_id = $1::uuid and j.position = 0)
    or exists (select from wfg_history h where h.run_id = $1::uuid and h.position = 0) as is_standalone
from (select) one left join wfg_runs r on r.id = $1::uuid`;

const JOBS = `
select h.position, h.job_id, h.state, h.upstream_ok, h.parents, h.children, h.tolerates <> 'nothing' as is_tolerant
from wfg_history h
where h.run_id = $1::uuid and h.moved_on = (select ${MOVED_ON} from wfg_runs r where r.id = $1::uuid)
order by h.position`;

// What is taken over is born ended and unsettled, and all below it blocked: so a scheduler's first pass tells the new
// jobs what those before them did, judges and releases them, by the statements that serve every run. Only roots without
// anything to judge are pending at once, as in a new run.
// An attempt belongs to the run that made it: its number, times and log are not taken over, but for when it ran.
const RERUN = `
with run as (
  insert into wfg_runs (workflow_id, name, trigger, env, open_jobs, timeout_secs, deadline_at, rerun_of)
  select r.workflow_id, r.name, r.trigger, r.env, $3::int, extract(epoch from ${OWN_TIME})::int, wfg_now() + ${OWN_TIME},
    r.id
  from wfg_runs r where r.id = $1::uuid
  returning id
), job as (
  insert into wfg_jobs (run_id, position, job_id, name, workflow_id, kind, workflow_type, required_labels, parents, children,
    condition, tolerates, priority, max_attempts, backoff, timeout_secs, expires_secs, spec, payload, metadata,
    state, settled, blocked_on, expires_at,
    upstream_ok, upstream_failed, error, outputs, exit_code, worker_id, started_at, finished_at, reused_from)
  select run.id, h.position, h.job_id, h.name, h.workflow_id, h.kind, h.workflow_type, h.required_labels, h.parents, h.children,
    h.condition, h.tolerates, h.priority, h.max_attempts, h.backoff, h.timeout_secs, h.expires_secs, h.spec, h.payload,
    h.metadata,
    case when not is_again then h.state when is_free then 'pending' else 'blocked' end,
    is_again, case when is_again then cardinality(h.parents) else 0 end,
    case when is_again and is_free then wfg_now() + make_interval(secs => h.expires_secs) end,
    is_again or h.upstream_ok, not is_again and h.upstream_failed,
    case when not is_again then h.error end, case when not is_again then h.outputs end,
    case when not is_again then h.exit_code end, case when not is_again then h.worker_id end,
    case when not is_again then h.started_at end, case when not is_again then h.finished_at end,
    case when not is_again then coalesce(h.reused_from, h.run_id) end
  from run
  cross join wfg_history h
  left join unnest($2::int[]) as chosen (position) on chosen.position = h.position
  cross join lateral (
    select chosen.position is not null as is_again, cardinality(h.parents) = 0 and h.condition is null as is_free
  ) will
  where h.run_id = $1::uuid and h.moved_on = (select ${MOVED_ON} from wfg_runs r where r.id = $1::uuid)
  returning lane, state
)
select run.id, job.lane::text, count(job.lane)::int as count
from run left join job on job.state = 'pending'
group by run.id, job.lane`;

interface RunRow {
  /** Null: there is no such run of a workflow. */
  state: string | null;
  is_refused: boolean;
  is_standalone: boolean;
}

/**
 * Starts a run of the jobs of an ended run: of all, or `from` the failed ones (`failed`) or one job on. An ended run
 * never changes, so nothing is locked.
 *
 * @throws {WfgError} not_found, or conflict: it has not ended, is not of a workflow, was never begun, or is kept no more.
 */
export async function rerun(db: Queryable, runId: string, from: string | undefined): Promise<Submitted> {
  await mustHaveEnded(db, runId);
  const jobs = await db.query<EndedJob>(JOBS, [runId]);
  if (jobs.rows.length === 0)
    throw new WfgError('conflict', 'the jobs of the run are kept no more: start a run of its workflow');
  const again = chooseRerun(jobs.rows, from);
  const values = [runId, again, jobs.rows.length];
  const { rows } = await db.query<{ id: string; lane: string | null; count: number }>(RERUN, values);
  const lanes = Object.fromEntries(rows.flatMap(({ lane, count }) => (lane === null ? [] : [[lane, count]])));
  const [row] = rows;
  if (!row) throw new WfgError('not_found', `there is no run ${runId}`);
  return { run_id: row.id, lanes };
}

async function mustHaveEnded(db: Queryable, runId: string): Promise<void> {
  const { rows } = await db.query<RunRow>(RUN, [runId]);
  const [run] = rows;
  if (run?.is_standalone)
    throw new WfgError(
      'conflict',
      'only a run of a workflow is rerun: requeue an event or a task, or enqueue it anew',
    );
  if (!run?.state) throw new WfgError('not_found', `there is no run ${runId}`);
  if (run.state === 'open')
    throw new WfgError(
      'conflict',
      'the run still goes on: retry its job, or cancel the run and wait for its end',
    );
  if (run.is_refused)
    throw new WfgError(
      'conflict',
      'the workflow of the run is not valid, so nothing of it can run: submit it mended',
    );
}

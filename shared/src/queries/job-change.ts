// How a statement changes jobs: in place, or, for a standalone job that is over, while it moves to history.

/** Every column of wfg_jobs that wfg_history has as well. */
const COLUMNS = [
  'run_id',
  'position',
  'version',
  'lane',
  'run_at',
  'created_at',
  'updated_at',
  'begun_at',
  'started_at',
  'finished_at',
  'lease_expires_at',
  'cancel_requested_at',
  'expires_at',
  'nonce',
  'log_lines',
  'log_bytes',
  'log_chunks',
  'exit_code',
  'lease_secs',
  'timeout_secs',
  'attempt',
  'tries',
  'losses',
  'max_attempts',
  'priority',
  'blocked_on',
  'settled',
  'upstream_ok',
  'upstream_failed',
  'state',
  'kind',
  'outcome',
  'job_id',
  'name',
  'workflow_id',
  'workflow_type',
  'worker_id',
  'instance',
  'reused_from',
  'required_labels',
  'parents',
  'children',
  'condition',
  'error',
  'backoff',
  'spec',
  'payload',
  'outputs',
  'metadata',
  'tolerates',
  'out_of_time',
  'expires_secs',
  'resolved',
  'step',
] as const;

type Changes = Partial<Record<(typeof COLUMNS)[number], string>>;

/**
 * The CTEs `changed`, `gone`, `kept` and `tallied`: they give the jobs that the CTE `decided` has (`run_id`,
 * `position`, `next`: their new state) the values of `changes`, expressions over `d`, the decision, and `j`, the job.
 * A standalone job that completed or was cancelled leaves wfg_jobs for wfg_history; one that failed is a dead letter
 * and stays. Version, updated_at, finished_at and settled follow from the new state.
 */
export function changeJobs(changes: Changes): string {
  const all: Changes = {
    version: 'j.version + 1',
    updated_at: 'wfg_now()',
    state: 'd.next',
    finished_at: `case when d.next in ('completed', 'failed', 'cancelled') then wfg_now() end`,
    settled: `j.position = 0 or d.next not in ('completed', 'failed', 'cancelled')`,
    ...changes,
  };
  const set = Object.entries(all).map(([column, value]) => `${column} = ${value}`);
  const values = COLUMNS.map((column) => all[column] ?? `j.${column}`);
  const leaves = `d.position = 0 and d.next in ('completed', 'cancelled')`;
  return `
changed as (
  update wfg_jobs j set ${set.join(', ')}
  from decided d
  where j.run_id = d.run_id and j.position = d.position and not (${leaves})
  returning j.run_id, j.position, j.job_id, j.attempt, j.worker_id, j.state, j.lane, j.run_at, j.max_attempts,
    j.workflow_type, j.step
), gone as (
  delete from wfg_jobs j using decided d
  where j.run_id = d.run_id and j.position = d.position and ${leaves}
  returning j.*
), kept as (
  insert into wfg_history (moved_on, ${COLUMNS.join(', ')})
  select (wfg_now() at time zone 'utc')::date, ${values.join(', ')}
  from gone j join decided d using (run_id, position)
  returning moved_on, run_id, position, job_id, attempt, worker_id, state, lane, kind, started_at, finished_at
), tallied as (
  insert into wfg_event_tallies (moved_on, state, events, busy_ms)
  select moved_on, state, count(*),
    coalesce(sum(extract(epoch from finished_at - started_at) * 1000) filter (where state = 'completed'), 0)
  from kept where kind = 'event'
  group by moved_on, state
)`;
}

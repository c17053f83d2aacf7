// The columns of wfg_runs that readers see, and what a run is told as.
import type { RunStatus, RunSummary } from '../contract/run.ts';
import { isoTime, type JobRow } from './job-row.ts';

/** As `to_json` writes it, times as text, so that it can stand in one column beside a job's. */
export interface RunRow {
  id: string;
  number: number | null;
  workflow_id: string | null;
  name: string;
  state: 'open' | 'completed' | 'failed' | 'cancelled';
  version: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  cancel_requested_at: string | null;
  rerun_of: string | null;
  error: string | null;
}

/** The columns of RunRow for a select list; `r` is wfg_runs. */
export const RUN_COLUMNS = `r.id, r.number, r.workflow_id, r.name, r.state, r.version, r.created_at, r.started_at,
  r.finished_at, r.cancel_requested_at, r.rerun_of, r.error`;

/** The day an ended run's jobs moved to wfg_history, null while it is open; `r` is wfg_runs. */
export const MOVED_ON = `(r.finished_at at time zone 'utc')::date`;

/** What the row of an open run does not say and its jobs do. */
interface OfJobs {
  /** The sum of their versions. */
  versions: number;
  /** The earliest start among them. */
  started_at: Date | null;
}

/** The run as readers see it. */
export function toRunSummary(row: RunRow, { versions, started_at }: OfJobs): RunSummary {
  const begun = isoTime(row.started_at ?? started_at);
  return {
    run_id: row.id,
    number: row.number,
    workflow_id: row.workflow_id,
    workflow_type: null,
    name: row.name,
    status: statusOf(row, begun !== null),
    // At its end a run's own version has taken in those of its jobs.
    rev: row.state === 'open' ? row.version + versions : row.version,
    created_at: isoTime(row.created_at),
    started_at: begun,
    finished_at: isoTime(row.finished_at),
    rerun_of: row.rerun_of,
    error: row.error,
    payload: null,
  };
}

function statusOf(row: RunRow, begun: boolean): RunStatus {
  if (row.state !== 'open') return row.state;
  if (row.cancel_requested_at !== null) return 'cancelling';
  return begun ? 'running' : 'pending';
}

/** A standalone job as the run that it is. */
export function toStandaloneSummary(row: JobRow & { payload: unknown }): RunSummary {
  return {
    run_id: row.run_id,
    number: null,
    workflow_id: null,
    workflow_type: row.workflow_type,
    name: row.name,
    status: standaloneStatus(row),
    rev: row.version,
    created_at: row.created_at.toISOString(),
    started_at: isoTime(row.begun_at),
    finished_at: isoTime(row.finished_at),
    rerun_of: null,
    error: null,
    payload: row.payload,
  };
}

function standaloneStatus({ state, cancel_requested_at, begun_at }: JobRow): RunStatus {
  if (state === 'completed' || state === 'failed' || state === 'cancelled') return state;
  if (state === 'active' && cancel_requested_at !== null) return 'cancelling';
  return begun_at === null ? 'pending' : 'running';
}

// The columns of a job that readers see, from wfg_jobs or wfg_history, and the Job of the contract made from them.
import type { Job, JobState } from '../contract/job.ts';
import { type Surroundings, waitingOf } from './waiting.ts';

const COLUMNS = [
  'run_id',
  'position',
  'version',
  'job_id',
  'name',
  'workflow_id',
  'workflow_type',
  'state',
  'cancel_requested_at',
  'parents',
  'required_labels',
  'priority',
  'attempt',
  'tries',
  'max_attempts',
  'created_at',
  'run_at',
  'begun_at',
  'started_at',
  'finished_at',
  'worker_id',
  'error',
  'reused_from',
  'metadata',
] as const;

export interface JobRow {
  run_id: string;
  position: number;
  version: number;
  job_id: string;
  name: string;
  workflow_id: string | null;
  workflow_type: string | null;
  state: JobState;
  cancel_requested_at: Date | null;
  parents: number[];
  required_labels: string[];
  priority: number;
  attempt: number;
  tries: number;
  max_attempts: number;
  created_at: Date;
  run_at: Date;
  begun_at: Date | null;
  started_at: Date | null;
  finished_at: Date | null;
  worker_id: string | null;
  error: string | null;
  reused_from: string | null;
  metadata: Record<string, unknown> | null;
}

/** The columns of JobRow for a select list, of the table with this alias. */
export function jobColumns(alias: string): string {
  return COLUMNS.map((column) => `${alias}.${column}`).join(', ');
}

/** The job as readers see it. Labels that are implied by what it executes are not shown. */
export function toJob(row: JobRow, around: Surroundings): Job {
  return {
    job_id: row.job_id,
    name: row.name,
    state: row.state,
    cancelling: row.state === 'active' && row.cancel_requested_at !== null,
    uses: row.workflow_type,
    depends_on: row.parents.flatMap((position) => around.parents.get(position)?.job_id ?? []),
    required_labels: row.required_labels.filter((label) => !label.startsWith(':')),
    priority: row.priority,
    attempt: Math.max(row.attempt, 0),
    tries: row.tries,
    max_attempts: row.max_attempts,
    run_at: row.run_at.toISOString(),
    started_at: isoTime(row.started_at),
    finished_at: isoTime(row.finished_at),
    worker_id: row.worker_id,
    error: row.state === 'completed' ? null : row.error,
    waiting: waitingOf(row, around),
    reused_from: row.reused_from,
    metadata: row.metadata ?? {},
  };
}

/** RFC 3339 in UTC with milliseconds; null stays null. */
export function isoTime<T extends Date | string | null>(time: T): T extends null ? null : string;
export function isoTime(time: Date | string | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

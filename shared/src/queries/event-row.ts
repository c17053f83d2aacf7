// The columns of a standalone event, from wfg_jobs or wfg_history, and the Event of the contract made from them.
import type { Event } from '../contract/event.ts';
import type { JobState } from '../contract/job.ts';
import type { Offers } from '../rules/no-worker.ts';
import { eventStatus } from '../rules/states.ts';
import { isoTime } from './job-row.ts';
import { waitingOf } from './waiting.ts';

const COLUMNS = [
  'run_id',
  'workflow_type',
  'payload',
  'state',
  'tries',
  'max_attempts',
  'error',
  'created_at',
  'updated_at',
  'started_at',
  'finished_at',
  'run_at',
  'required_labels',
];

/** With the database's time of the read. */
export interface EventRow {
  run_id: string;
  workflow_type: string;
  payload: unknown;
  state: JobState;
  tries: number;
  max_attempts: number;
  error: string | null;
  created_at: Date;
  updated_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  run_at: Date;
  required_labels: string[];
  now: Date;
}

/** The columns of EventRow for a select list, of the table with this alias. */
export function eventColumns(alias: string): string {
  return `${COLUMNS.map((column) => `${alias}.${column}`).join(', ')}, wfg_now() as now`;
}

/** The event as readers see it. */
export function toEvent(row: EventRow, offers: Offers): Event {
  return {
    id: row.run_id,
    workflow_type: row.workflow_type,
    payload: row.payload,
    status: eventStatus(row),
    attempts: row.tries,
    max_attempts: row.max_attempts,
    last_error: row.error,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
    started_at: isoTime(row.started_at),
    completed_at: row.state === 'completed' ? isoTime(row.finished_at) : null,
    run_at: isoTime(row.run_at),
    waiting: waitingOf({ ...row, parents: [] }, { now: row.now, parents: new Map(), offers }),
  };
}

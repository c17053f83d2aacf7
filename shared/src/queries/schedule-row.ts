// Schedules as their rows have them, and as they are shown.
import type { CatchUp } from '../contract/cron.ts';
import type { Schedule } from '../contract/schedule.ts';
import type { Env } from '../contract/workflow.ts';

/** What a schedule is, but for when it ticked. */
export interface ScheduleFields extends StoredTarget {
  id: string;
  cron: string;
  timezone: string;
  catch_up: CatchUp;
}

/** The workflow to start, or the event to store: the fields of the other are null. */
export interface StoredTarget {
  workflow_id: string | null;
  env: Env | null;
  workflow_type: string | null;
  payload: unknown;
  max_attempts: number | null;
  priority: number | null;
}

export interface ScheduleRow extends ScheduleFields {
  defined_by: string | null;
  paused: boolean;
  next_at: Date | null;
  last_tick_at: Date | null;
  error: string | null;
  created_at: Date;
  updated_at: Date;
}

/** Of the table as `s`. */
export const SCHEDULE_COLUMNS = `s.id, s.defined_by, s.cron, s.timezone, s.catch_up, s.paused, s.workflow_id, s.env,
  s.workflow_type, s.payload, s.max_attempts, s.priority, s.next_at, s.last_tick_at, s.error, s.created_at, s.updated_at`;

export function toSchedule(row: ScheduleRow): Schedule {
  return {
    id: row.id,
    cron: row.cron,
    timezone: row.timezone,
    catch_up: row.catch_up,
    paused: row.paused,
    source: row.defined_by === null ? 'api' : 'workflow',
    workflow_id: row.workflow_id,
    env: row.env,
    workflow_type: row.workflow_type,
    payload: row.payload,
    max_attempts: row.max_attempts,
    priority: row.priority,
    next_at: row.next_at?.toISOString() ?? null,
    last_tick_at: row.last_tick_at?.toISOString() ?? null,
    error: row.error,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

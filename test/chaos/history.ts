// Everything that is known of what happened: what was asked for, what commands and handlers wrote when they began and
// ended, what followers were told, and all rows. All times are in milliseconds since 1970, of one clock.
import type { JobState, Outcome } from '@wfg/shared/contract/job';
import type { RunStatus } from '@wfg/shared/contract/run';
import type { SeenRun } from '../support/watch-runs.ts';

export interface History {
  items: readonly Item[];
  marks: readonly Mark[];
  jobs: readonly JobRow[];
  runs: readonly RunRow[];
  attempts: readonly AttemptRow[];
  logs: readonly LogRow[];
  leases: readonly SeenLease[];
  seenRuns: readonly SeenRun[];
  told: readonly Told[];
  /** What of commands was still running at the end, as command lines. */
  processes: readonly string[];
}

export interface JobKey {
  run: string;
  job: string;
}

export interface AttemptKey extends JobKey {
  /** From 0. */
  attempt: number;
}

/** A run that was asked for, and accepted under this id. */
export interface Item {
  run: string;
  /** How the run must end. */
  state: 'completed' | 'failed' | 'cancelled';
  jobs: Record<string, Expected>;
  /** Of one whose cancel was accepted: when the answer came, and how it ends where its jobs had ended by then. */
  late?: { before: number } & Pick<Item, 'state' | 'jobs'>;
}

export interface Expected {
  /** One of these: of what is cancelled only some has begun. */
  states: readonly JobState[];
  /** Printed by each attempt that comes to its end. */
  lines: number;
  needs: readonly string[];
}

/** A line that an attempt wrote into the file itself. */
export interface Mark extends AttemptKey {
  at: number;
  what: 'start' | 'end';
  pid: number;
}

export interface JobRow extends JobKey {
  table: 'live' | 'history';
  kind: 'command' | 'event' | 'task';
  state: JobState;
  /** The last attempt; -1 when there was none. */
  attempt: number;
  tries: number;
  losses: number;
  max_attempts: number;
  finished_at: number | null;
}

/** Of a graph. */
export interface RunRow {
  run: string;
  state: string;
}

/** An attempt that is over, whether it was the job's last or not. */
export interface AttemptRow extends AttemptKey {
  outcome: Outcome;
  error: string | null;
  started_at: number;
  finished_at: number;
  /** Of a task. */
  step: string | null;
  log_chunks: number;
  log_lines: number;
  log_bytes: number;
}

/** A chunk; `line` is its first line's number from 1, `lines` and `bytes` count the attempt up to its end. */
export interface LogRow extends AttemptKey {
  sequence: number;
  line: number;
  lines: number;
  bytes: number;
  stream: string;
  data: string;
}

/** The latest expiry of an attempt's lease that was seen in the row. */
export interface SeenLease extends AttemptKey {
  expires_at: number;
}

/** A frame that a follower of a run got. */
export interface Told {
  run: string;
  rev: number;
  /** `snapshot`, or the type of the event. */
  what: string;
  /** Null when it says nothing of the run itself. */
  status: RunStatus | null;
  /** Of those that it tells of. */
  jobs: readonly { job: string; state: JobState; attempt: number }[];
}

export function isOver(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

export function jobOf({ run, job }: JobKey): string {
  return `${run} ${job}`;
}

export function attemptOf({ run, job, attempt }: AttemptKey): string {
  return `${run} ${job}.${attempt}`;
}

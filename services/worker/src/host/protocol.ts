// What the worker and a handler host say to each other over their channel.

import type { Result } from '@wfg/shared/queries/finish';
import type { Lease } from '@wfg/shared/queries/leases';
import type { Carried } from '@wfg/shared/runtime/carried';
import type { Busy } from '../pace.ts';
import type { StopReason } from '../stop-error.ts';
import type { Why } from '../take-jobs.ts';

/** What is known of an attempt outside the process that executes it. */
export interface BegunAttempt extends Lease {
  /** In this life of the host. */
  id: number;
  job_id: string;
  kind: 'event' | 'task';
  workflow_type: string;
  step: string | null;
  tries: number;
  max_attempts: number;
}

export type ToHost =
  /** Answers `ready`: begin. */
  | { op: 'serve' }
  /** There may be due jobs. */
  | { op: 'look'; why: Why }
  /** Somebody follows the logs of these jobs. */
  | { op: 'watch'; keys: readonly string[] }
  | { op: 'ping' }
  | { op: 'stop'; id: number; reason: StopReason }
  /** Wait no longer for what was told to stop, or will be. */
  | { op: 'hurry' }
  /** Take nothing more; answered by `drained`. */
  | { op: 'drain' }
  /** Nothing runs any more: end. */
  | { op: 'close' };

export type FromHost =
  /** Its module is loaded; waits for `serve`. */
  | { op: 'ready'; labels: string[] }
  /** The module cannot be loaded; the host ends. */
  | { op: 'broken'; error: string }
  /** With what it has counted since the last. */
  | { op: 'pong'; problems: string[]; carried: Carried[] }
  /** How busy it is, as far as that has changed; that it is hot about once a second. */
  | ({ op: 'busy' } & Busy)
  /** Said before anything of them runs. */
  | { op: 'begun'; attempts: BegunAttempt[] }
  /** It goes on although it was told to stop. What is to be reported when it is dead; null if its lease is lost. */
  | { op: 'deaf'; id: number; result: Result | null }
  /** It has its answer, or was given up. */
  | { op: 'ended'; id: number }
  /** No further `begun` follows. */
  | { op: 'drained' }
  /** The host ends, for an error that nobody caught; null: of no attempt that is known. */
  | { op: 'fault'; id: number | null; error: string };

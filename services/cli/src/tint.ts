// The colour of each word for how something stands.
import type { Outcome, JobState } from '@wfg/shared/contract/job';
import type { RunStatus } from '@wfg/shared/contract/run';
import type { TickOutcome } from '@wfg/shared/contract/schedule';
import type { Worker } from '@wfg/shared/contract/worker';

export type Tint = 'green' | 'red' | 'yellow' | 'cyan' | 'dim' | 'bold';

/** What stands well is green, what is under way cyan, what needs a look red or yellow. */
export const TINTS: Readonly<Record<JobState | RunStatus | Outcome | TickOutcome | Worker['status'], Tint>> =
  {
    blocked: 'dim',
    pending: 'dim',
    active: 'cyan',
    running: 'cyan',
    cancelling: 'yellow',
    completed: 'green',
    failed: 'red',
    timed_out: 'red',
    lost: 'red',
    handed_back: 'yellow',
    skipped: 'dim',
    cancelled: 'dim',
    idle: 'green',
    busy: 'cyan',
    draining: 'yellow',
    offline: 'red',
    fired: 'green',
    missed: 'yellow',
  };

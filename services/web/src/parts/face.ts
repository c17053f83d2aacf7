// How each state looks: an icon, a word and a tone, never a colour alone.
import type { Job } from '@wfg/shared/contract/job';
import type { RunStatus } from '@wfg/shared/contract/run';

export type Icon = 'ring' | 'dashes' | 'arc' | 'check' | 'cross' | 'slash' | 'stop';
export type Tone = 'idle' | 'wait' | 'run' | 'good' | 'bad' | 'warn';

export interface Face {
  icon: Icon;
  word: string;
  tone: Tone;
}

const JOB: Record<Job['state'], Face> = {
  blocked: { icon: 'dashes', word: 'Blocked', tone: 'idle' },
  pending: { icon: 'ring', word: 'Pending', tone: 'wait' },
  active: { icon: 'arc', word: 'Running', tone: 'run' },
  completed: { icon: 'check', word: 'Completed', tone: 'good' },
  failed: { icon: 'cross', word: 'Failed', tone: 'bad' },
  skipped: { icon: 'slash', word: 'Skipped', tone: 'idle' },
  cancelled: { icon: 'stop', word: 'Cancelled', tone: 'warn' },
};

const CANCELLING: Face = { icon: 'arc', word: 'Cancelling', tone: 'warn' };

const RUN: Record<RunStatus, Face> = {
  pending: JOB.pending,
  running: JOB.active,
  cancelling: CANCELLING,
  completed: JOB.completed,
  failed: JOB.failed,
  cancelled: JOB.cancelled,
};

/** A job whose cancel was asked for still runs, and says so. */
export function faceOfJob(job: Pick<Job, 'state' | 'cancelling'>): Face {
  return job.cancelling && job.state === 'active' ? CANCELLING : JOB[job.state];
}

export function faceOfRun(status: RunStatus): Face {
  return RUN[status];
}

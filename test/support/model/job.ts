// What a job must be after what happens to it, as the design says it: the reference that the rows are compared with.
import type { JobState, Outcome } from '@wfg/shared/contract/job';

/** The wait before the n-th retry is min(base · 2^(n-1), max) seconds. */
export interface Wait {
  base: number;
  max: number;
}

export const NO_WAIT: Wait = { base: 0, max: 0 };

/** What the task's steps declare. */
export const STEPS: Record<string, { max_attempts: number; wait: Wait }> = {
  First: { max_attempts: 2, wait: { base: 10, max: 10 } },
  Second: { max_attempts: 1, wait: NO_WAIT },
};

/** An attempt that is over. */
export interface Ending {
  attempt: number;
  try: number;
  outcome: Outcome;
  error: string | null;
  /** The sealed count of its log. */
  chunks: number;
  /** Of an attempt that its worker reported on: under which lease, and what became of the job. */
  told: { nonce: string; state: JobState } | null;
}

/** Times are seconds from the beginning of the history. */
export interface Job {
  name: string;
  run_id: string;
  position: number;
  kind: 'event' | 'task' | 'command';
  /** Of a job of a run: what it is in it. */
  role: 'root' | 'next' | 'always' | null;
  priority: number;
  wait: Wait;
  timeout_secs: number | null;
  expires_secs: number | null;

  is_live: boolean;
  state: JobState;
  step: string | null;
  version: number;
  attempt: number;
  tries: number;
  losses: number;
  max_attempts: number;
  run_at: number;
  /** Where chance has a say: the latest that run_at may be. */
  run_at_most: number;
  expires_at: number | null;
  worker_id: string | null;
  is_foreign: boolean;
  /** Of the last attempt; null when it was taken back. */
  nonce: string | null;
  lease_secs: number | null;
  lease_expires_at: number | null;
  cancel_asked: boolean;
  out_of_time: boolean;
  outcome: Outcome | null;
  error: string | null;
  outputs: string | null;
  started_at: number | null;
  finished_at: number | null;
  settled: boolean;
  /** Chunks stored of the current attempt. */
  printed: number;
  endings: Ending[];
}

export interface Claimer {
  worker_id: string;
  /** It claims over HTTP. */
  is_foreign: boolean;
  lease_secs: number;
}

export interface Report {
  outcome: Exclude<Outcome, 'lost'>;
  retryable: boolean;
  error: string | null;
  is_parked: boolean;
  outputs: string | null;
  /** Of a step: what comes next, and in how many seconds. */
  next: { step: string; delay_secs: number } | null;
}

const RUNNABLE: ReadonlySet<JobState> = new Set(['blocked', 'pending', 'active']);

export function isOver({ state }: Job): boolean {
  return !RUNNABLE.has(state);
}

/** A transition: more events may come of it than one. */
function move(job: Job, now: number, to: Partial<Job>, events = 1): Job {
  const moved = { ...job, ...to, version: job.version + events };
  const ended = isOver(moved);
  const standalone = job.position === 0;
  return {
    ...moved,
    // What chance had a say in may not have been looked at yet.
    run_at_most: to.run_at_most ?? (moved.run_at === job.run_at ? job.run_at_most : moved.run_at),
    finished_at: ended ? now : null,
    settled: standalone || !ended || moved.state === 'skipped',
    is_live: !(standalone && (moved.state === 'completed' || moved.state === 'cancelled')),
  };
}

export function canBeClaimed(job: Job, now: number): boolean {
  const expired = job.expires_at !== null && job.attempt < 0 && job.expires_at <= now;
  return job.state === 'pending' && job.run_at <= now && !expired;
}

export function claim(job: Job, now: number, by: Claimer, nonce: string): Job {
  const lease = { worker_id: by.worker_id, is_foreign: by.is_foreign, nonce, lease_secs: by.lease_secs };
  const begun = {
    attempt: job.attempt + 1,
    tries: job.tries + 1,
    started_at: now,
    outcome: null,
    printed: 0,
  };
  return move(job, now, { state: 'active', ...lease, lease_expires_at: now + by.lease_secs, ...begun }, 2);
}

const GIVEN_UP = { lease_secs: null, lease_expires_at: null };

/** How many tries there are, and how long to wait between them. */
function budgetOf(job: Job): { most: number; wait: Wait } {
  const step = job.step === null ? undefined : STEPS[job.step];
  return { most: step?.max_attempts ?? job.max_attempts, wait: step?.wait ?? job.wait };
}

function retryAt(now: number, { base, max }: Wait, tries: number): number {
  return now + Math.min(base * 2 ** (tries - 1), max);
}

/** What the holder of the lease reports. */
export function finish(job: Job, now: number, nonce: string, report: Report): Job {
  const { most, wait } = budgetOf(job);
  const { state, outcome } = judge(job, report, most);
  const onward = outcome === 'completed' ? report.next : null;
  const reason = job.cancel_asked && report.outcome === 'handed_back' ? null : report.error;
  const error = job.out_of_time ? 'the time of its run is over' : reason;
  const handedBack = outcome === 'handed_back';
  // What could not be decoded was not tried.
  const tried = report.is_parked ? job.tries - 1 : job.tries;
  // The last error of a job stays, and is told of an attempt that ends it without one of its own.
  const lasting = error ?? job.error;
  const ending = {
    attempt: job.attempt,
    try: tried,
    outcome,
    error: outcome === 'cancelled' ? lasting : error,
    chunks: job.printed,
  };
  const ended: Partial<Job> = {
    ...GIVEN_UP,
    state,
    outcome,
    // Nothing went wrong with what is handed back.
    error: handedBack ? job.error : lasting,
    max_attempts: most,
    tries: handedBack ? job.tries - 1 : tried,
    outputs: state === 'completed' ? report.outputs : null,
    endings: [...job.endings, { ...ending, told: { nonce, state } }],
  };
  if (onward) {
    const { max_attempts } = STEPS[onward.step] ?? { max_attempts: 1 };
    const fresh = { step: onward.step, tries: 0, losses: 0, max_attempts };
    return move(job, now, { ...ended, ...fresh, run_at: now + onward.delay_secs });
  }
  const again = state === 'pending' && !handedBack;
  return move(job, now, { ...ended, run_at: again ? retryAt(now, wait, job.tries) : job.run_at });
}

function judge(job: Job, report: Report, most: number): { state: JobState; outcome: Outcome } {
  const { outcome } = report;
  if (job.out_of_time) return { state: 'failed', outcome: 'timed_out' };
  if (job.cancel_asked) return { state: 'cancelled', outcome: 'cancelled' };
  if (outcome === 'completed') return { state: report.next ? 'pending' : 'completed', outcome };
  if (outcome === 'handed_back') return { state: 'pending', outcome };
  if (outcome === 'cancelled') return { state: 'cancelled', outcome };
  return { state: report.retryable && job.tries < most ? 'pending' : 'failed', outcome };
}

export interface Loss {
  outcome: 'lost' | 'failed' | 'timed_out';
  /** Null: the lease ran out. */
  reason: string | null;
}

const MAX_LOSSES = 5;
/** What was lost more than once comes back up to so many seconds later for each time before. */
const APART_SECS = 3;

/** The attempt ends without a report, and whatever its holder says from now on is too late. */
export function takeBack(job: Job, now: number, { outcome, reason }: Loss): Job {
  const { most, wait } = budgetOf(job);
  const charged = job.kind === 'command' || outcome !== 'lost';
  const losses = charged ? job.losses : job.losses + 1;
  const ruined = !charged && losses >= MAX_LOSSES;
  const expiry = `worker ${job.worker_id} stopped renewing it`;
  const error = ruined ? `worker lost: ${reason ?? expiry}` : (reason ?? `lease expired: ${expiry}`);
  const spent = charged ? job.tries >= most : ruined;
  const unspent = spent ? 'failed' : 'pending';
  const state = job.out_of_time ? 'failed' : job.cancel_asked ? 'cancelled' : unspent;
  const again = state === 'pending';
  const run_at = again && charged ? retryAt(now, wait, job.tries) : job.run_at;
  const apart = again && !charged && job.losses > 0;
  const ending = { attempt: job.attempt, try: job.tries, outcome, error, chunks: job.printed, told: null };
  return move(
    job,
    now,
    {
      ...GIVEN_UP,
      nonce: null,
      state,
      outcome,
      error,
      losses,
      max_attempts: most,
      tries: charged ? job.tries : job.tries - 1,
      run_at: apart ? now : run_at,
      run_at_most: apart ? now + APART_SECS * job.losses : run_at,
      endings: [...job.endings, ending],
    },
    2,
  );
}

/** What waits ends at once, what runs is asked to stop. */
export function cancel(job: Job, now: number): Job {
  if (job.state !== 'active') return move(job, now, { state: 'cancelled', cancel_asked: true });
  return job.cancel_asked ? job : move(job, now, { cancel_asked: true });
}

export function expire(job: Job, now: number): Job {
  const error = `expired: no worker began it within ${job.expires_secs} s`;
  return move(job, now, { state: 'failed', error });
}

/** A dead letter gets all its tries again: of its last attempt it is then told, too, that another was to follow. */
export function requeue(job: Job, now: number): Job {
  const endings = job.endings.map((ending) =>
    ending.attempt === job.attempt && ending.told
      ? { ...ending, told: { ...ending.told, state: 'pending' as const } }
      : ending,
  );
  const max_attempts = job.kind === 'task' ? budgetOf(job).most : job.max_attempts;
  const expires_at = job.expires_secs === null ? null : now + job.expires_secs;
  const fresh = { tries: 0, losses: 0, max_attempts, run_at: now, expires_at, cancel_asked: false };
  return move({ ...job, endings }, now, { state: 'pending', ...fresh });
}

/** All that it needs has ended as it should. */
export function release(job: Job, now: number): Job {
  const expires_at = job.expires_secs === null ? null : now + job.expires_secs;
  return move(job, now, { state: 'pending', run_at: now, expires_at });
}

export function skip(job: Job, now: number, error: string): Job {
  return move(job, now, { state: 'skipped', error });
}

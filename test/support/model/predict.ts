// What an act must answer and change, given what is committed and what others hold locked.
import type { Act, Grant, Told } from './act.ts';
import { canBeClaimed, cancel, claim, expire, finish, isOver, type Job, requeue, takeBack } from './job.ts';
import { advance, askToCancel, isOutOfTime, type Run, timeOut, unheeding, heed } from './run.ts';

export interface View {
  now: number;
  /** By name, as committed. */
  jobs: ReadonlyMap<string, Job>;
  runs: ReadonlyMap<string, Run>;
  /** Names of jobs and runs that a transaction holds which is still open. */
  locked: ReadonlySet<string>;
}

export interface Prediction {
  answer: string;
  jobs: Job[];
  runs: Run[];
  /** What it holds until it is committed, besides what it changes. */
  locks: string[];
  /** It waits for somebody else's lock: what it answers and changes is to be predicted when that is gone. */
  waits: boolean;
}

const nothing: Prediction = { answer: 'nothing', jobs: [], runs: [], locks: [], waits: false };

/** Null: an act that would wait in the midst of its work, which is more than this can tell of. */
export function predict(view: View, act: Act): Prediction | null {
  switch (act.do) {
    case 'claim': {
      const due = free(view, (job) => canBeClaimed(job, view.now)).sort(byTurn);
      const jobs = due.slice(0, act.limit).map((job) => claim(job, view.now, act.by, act.nonce));
      return { ...nothing, answer: listed(jobs.map(({ name, attempt }) => `${name}.${attempt}`)), jobs };
    }
    case 'renew':
      return renew(view, act.grants);
    case 'renew over HTTP': {
      const job = heldBy(view, act.grant);
      if (!job || (job.lease_expires_at ?? 0) < view.now) return { ...nothing, answer: 'lost' };
      return renew(view, [act.grant], view.locked.has(job.name));
    }
    case 'print': {
      const job = heldBy(view, act.grant);
      if (!job) return { ...nothing, answer: 'lost' };
      return { ...nothing, answer: 'stored', jobs: [{ ...job, printed: job.printed + 1 }] };
    }
    case 'report': {
      const reports = act.told.map((told) => report(view, told));
      const jobs = reports.flatMap(({ job }) => job ?? []);
      return { ...nothing, answer: listed(reports.map(({ answer }) => answer)), jobs };
    }
    case 'give up': {
      const loss = {
        outcome: act.error === null ? 'lost' : 'failed',
        reason: act.error ?? 'its process died',
      } as const;
      const mine = act.grants.flatMap((grant) => heldBy(view, grant) ?? []);
      const jobs = mine
        .filter(({ name }) => !view.locked.has(name))
        .map((job) => takeBack(job, view.now, loss));
      const busy = mine.filter(({ name }) => view.locked.has(name)).map(({ name }) => `${name} busy`);
      return { ...nothing, answer: listed([...ends(jobs), ...busy].sort()), jobs };
    }
    case 'reap': {
      const overdue = free(view, (job) => isOverdue(job, view.now)).slice(0, act.limit);
      return ended(overdue.map((job) => takeBack(job, view.now, lossOf(job, view.now))));
    }
    case 'expire': {
      const late = free(
        view,
        (job) => job.state === 'pending' && job.attempt < 0 && isPast(job.expires_at, view.now),
      );
      return ended(late.slice(0, act.limit).map((job) => expire(job, view.now)));
    }
    case 'cancel':
      return cancelOne(view, act.job);
    case 'cancel run':
      return cancelRun(view, act.run, act.force);
    case 'requeue': {
      const job = view.jobs.get(act.job.name);
      if (!job || job.state !== 'failed' || job.position > 0) return nothing;
      return inOrder(view, [job]) ?? { ...nothing, answer: 'requeued', jobs: [requeue(job, view.now)] };
    }
    case 'time out': {
      const late = [...view.runs.values()].filter(
        (run) => isOutOfTime(run, view.now) && !view.locked.has(run.name),
      );
      return { ...nothing, answer: names(late), runs: late.map((run) => timeOut(run, view.now)) };
    }
    default:
      return advanceAll(view);
  }
}

function renew(view: View, grants: readonly Grant[], waits = false): Prediction {
  const held = grants.map((grant) => heldBy(view, grant));
  const answers = held.map((job) => (job ? `held${job.cancel_asked ? ', to be cancelled' : ''}` : 'lost'));
  const jobs = held.flatMap((job) => (job && !view.locked.has(job.name) ? job : []));
  const renewed = jobs.map((job) => ({ ...job, lease_expires_at: view.now + (job.lease_secs ?? 0) }));
  return { ...nothing, answer: listed(answers), jobs: renewed, waits };
}

function report(view: View, { grant, report: told }: Told): { answer: string; job?: Job } {
  const job = heldBy(view, grant);
  if (job && view.locked.has(job.name)) return { answer: 'busy, active' };
  if (job) {
    const done = finish(job, view.now, grant.nonce, told);
    const due = done.state === 'pending' && done.run_at <= view.now;
    return { answer: `applied, ${done.state}${due ? ' and due' : ''}`, job: done };
  }
  const now = view.jobs.get(grant.job);
  const ending = now?.endings.find((one) => one.attempt === grant.attempt && one.told?.nonce === grant.nonce);
  if (ending?.told) return { answer: `already, ${ending.told.state}` };
  return { answer: `lost, ${now?.is_live ? now.state : 'gone'}` };
}

function cancelOne(view: View, { name }: Job): Prediction {
  const job = view.jobs.get(name);
  const run = view.runs.get(runOf(name));
  if (run && view.locked.has(run.name)) return { ...nothing, waits: true };
  const locks = run ? [run.name] : [];
  if (!job?.is_live) return { ...nothing, locks };
  if (view.locked.has(name)) return { ...nothing, locks, waits: true };
  if (isOver(job)) return { ...nothing, locks: [...locks, name] };
  const cancelled = cancel(job, view.now);
  return { ...nothing, answer: cancelled.state, jobs: [cancelled], locks };
}

function cancelRun(view: View, { name }: Run, force: boolean): Prediction {
  const run = view.runs.get(name);
  if (!run || run.state !== 'open') return nothing;
  if (view.locked.has(name)) return { ...nothing, waits: true };
  const asked = askToCancel(run, view.now, force);
  const deaf = unheeding(asked, jobsOf(view, run));
  const waiting = inOrder(view, deaf);
  if (waiting) return { ...waiting, locks: [...waiting.locks, name] };
  return { ...nothing, answer: 'asked', runs: [asked], jobs: deaf.map((job) => heed(asked, job, view.now)) };
}

function advanceAll(view: View): Prediction | null {
  const runs: Run[] = [];
  const jobs: Job[] = [];
  for (const run of view.runs.values()) {
    const own = jobsOf(view, run);
    if (run.state !== 'open' || view.locked.has(run.name)) continue;
    if (run.settled && own.every((job) => job.settled)) continue;
    if (unheeding(run, own).some(({ name }) => view.locked.has(name))) return null;
    const moved = advance(run, own, view.now);
    runs.push(moved.run);
    jobs.push(...moved.jobs);
  }
  return { ...nothing, answer: 'done', runs, jobs };
}

/** Whether what locks these jobs one after another has to wait, and what it holds by then; null: it has not. */
function inOrder(view: View, jobs: readonly Job[]): Prediction | null {
  const first = jobs.findIndex(({ name }) => view.locked.has(name));
  return first < 0 ? null : { ...nothing, waits: true, locks: jobs.slice(0, first).map(({ name }) => name) };
}

/** The job, if this lease is the one on it. */
function heldBy(view: View, { job: name, attempt, nonce }: Grant): Job | null {
  const job = view.jobs.get(name);
  return job?.state === 'active' && job.attempt === attempt && job.nonce === nonce ? job : null;
}

function isOverdue(job: Job, now: number): boolean {
  const late = job.timeout_secs !== null && isPast((job.started_at ?? 0) + job.timeout_secs, now);
  return job.state === 'active' && (isPast(job.lease_expires_at, now) || (job.is_foreign && late));
}

function lossOf(job: Job, now: number) {
  if (isPast(job.lease_expires_at, now)) return { outcome: 'lost', reason: null } as const;
  return { outcome: 'timed_out', reason: `timeout after ${job.timeout_secs}s` } as const;
}

const isPast = (time: number | null, now: number) => time !== null && time < now;

/** Those that nobody else holds, by key. */
function free(view: View, ok: (job: Job) => boolean): Job[] {
  return [...view.jobs.values()].filter((job) => ok(job) && !view.locked.has(job.name)).sort(byKey);
}

export function runOf(name: string): string {
  return name.split('/')[0] ?? name;
}

function jobsOf(view: View, { name }: Run): Job[] {
  return [...view.jobs.values()].filter((job) => job.position > 0 && runOf(job.name) === name).sort(byKey);
}

function byKey(a: Job, b: Job): number {
  return a.run_id < b.run_id ? -1 : a.run_id > b.run_id ? 1 : a.position - b.position;
}

function byTurn(a: Job, b: Job): number {
  return b.priority - a.priority || a.run_at - b.run_at || byKey(a, b);
}

function ended(jobs: Job[]): Prediction {
  return { ...nothing, answer: listed(ends(jobs).sort()), jobs };
}

function ends(jobs: readonly Job[]): string[] {
  return jobs.map(({ name, state }) => `${name} ${state}`);
}

export function names(items: readonly { name: string }[]): string {
  return listed(items.map(({ name }) => name).sort());
}

export function listed(parts: readonly string[]): string {
  return parts.length === 0 ? 'nothing' : parts.join('; ');
}

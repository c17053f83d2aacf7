// What a history is about: one to three events, tasks and runs, made when its clock begins.
import type { Backoff } from '@wfg/shared/contract/backoff';
import { enqueueEvent } from '@wfg/shared/queries/enqueue';
import { declareHandlers } from '@wfg/shared/queries/handlers';
import { submitRun } from '@wfg/shared/queries/submit';
import { startTask } from '@wfg/shared/queries/tasks';
import { defineWorkflow } from '@wfg/shared/rules/definition';
import { type Arbitrary, boolean, constant, constantFrom, integer, oneof, record } from 'fast-check';
import type { Pool } from 'pg';
import { type Job, NO_WAIT, STEPS, type Wait } from './job.ts';
import { BEGIN } from './rows.ts';
import type { Run } from './run.ts';

export const EVENT = 'signal';
export const TASK = 'Walk';

/** A backoff as it is given, and what it means. */
const BACKOFFS: { given: Backoff | null; wait: Wait }[] = [
  { given: 'None', wait: NO_WAIT },
  { given: null, wait: { base: 1, max: 60 } },
  { given: { Fixed: { delay_secs: 10 } }, wait: { base: 10, max: 10 } },
];
const NONE = { given: 'None', wait: NO_WAIT } as const;

export type Subject =
  | {
      kind: 'event';
      max_attempts: number;
      backoff: { given: Backoff | null; wait: Wait };
      delay_secs: number;
      expires_secs: number | null;
      timeout_secs: number | null;
      priority: number;
    }
  | { kind: 'task'; delay_secs: number }
  | {
      kind: 'run';
      retries: number;
      whole: boolean;
      timeout_secs: number | null;
      expires_secs: number | null;
    };

const delay_secs = constantFrom(0, 30);
const maybe = (secs: number) => constantFrom(null, secs);

export const subjects: Arbitrary<Subject> = oneof(
  record({
    kind: constant('event'),
    max_attempts: integer({ min: 1, max: 3 }),
    backoff: constantFrom(...BACKOFFS),
    delay_secs,
    expires_secs: maybe(20),
    timeout_secs: maybe(15),
    priority: constantFrom(0, 5),
  }),
  record({ kind: constant('task'), delay_secs }),
  record({
    kind: constant('run'),
    retries: integer({ min: 0, max: 1 }),
    whole: boolean(),
    timeout_secs: maybe(50),
    expires_secs: maybe(20),
  }),
);

export function stepPayload(step: string): unknown {
  return { [TASK]: { [step]: null } };
}

/** What the task's steps declare, as a worker that loads them stores it. */
export async function declareSteps(pool: Pool): Promise<void> {
  const steps = Object.entries(STEPS).map(([step, { max_attempts, wait }]) => ({
    kind: 'task' as const,
    workflow_type: TASK,
    step,
    max_attempts,
    backoff: wait === NO_WAIT ? null : { Fixed: { delay_secs: wait.base } },
    timeout_secs: null,
  }));
  await declareHandlers(pool, steps);
}

/** Makes it, and says what must be there then. */
export async function start(
  pool: Pool,
  subject: Subject,
  number: number,
): Promise<{ jobs: Job[]; runs: Run[] }> {
  const { kind } = subject;
  if (kind === 'event') {
    const { backoff, delay_secs, expires_secs, timeout_secs, max_attempts, priority } = subject;
    const { run_id } = await enqueueEvent(pool, {
      workflow_type: EVENT,
      payload: {},
      max_attempts,
      run_at: at(delay_secs),
      expires_in_secs: expires_secs,
      priority,
      backoff: backoff.given,
      timeout_secs,
    });
    const name = `event${number}`;
    const given = {
      run_at: delay_secs,
      wait: backoff.wait,
      expires_secs,
      timeout_secs,
      max_attempts,
      priority,
    };
    return { jobs: [due(newJob({ name, run_id, kind, ...given }))], runs: [] };
  }
  if (kind === 'task') {
    const run_id = await startTask(pool, stepPayload('First'), at(subject.delay_secs));
    const { max_attempts } = STEPS['First'] ?? { max_attempts: 1 };
    const given = { run_at: subject.delay_secs, step: 'First', max_attempts };
    return { jobs: [newJob({ name: `task${number}`, run_id, kind, ...given })], runs: [] };
  }
  return startRun(pool, subject, `run${number}`);
}

async function startRun(pool: Pool, subject: Subject & { kind: 'run' }, name: string) {
  const { retries, timeout_secs, expires_secs, whole } = subject;
  const expires_in = expires_secs ?? undefined;
  const root = { run: 'true', retries, expires_in };
  const others = {
    next: { run: 'true', needs: 'root', expires_in },
    always: { run: 'true', needs: 'root', if: 'always()' },
  };
  const workflow = { name, timeout: timeout_secs ?? undefined, jobs: { root, ...(whole ? others : {}) } };
  const { run_id } = await submitRun(pool, null, defineWorkflow(workflow), {});
  const own = { run_id, kind: 'command' as const, run_at: 0 };
  const jobs = [
    due(
      newJob({
        ...own,
        name: `${name}/root`,
        role: 'root',
        position: 1,
        max_attempts: 1 + retries,
        expires_secs,
      }),
    ),
    newJob({ ...own, name: `${name}/next`, role: 'next', position: 2, state: 'blocked', expires_secs }),
    newJob({ ...own, name: `${name}/always`, role: 'always', position: 3, state: 'blocked' }),
  ].slice(0, whole ? 3 : 1);
  const run: Run = {
    name,
    id: run_id,
    state: 'open',
    cancel_asked: false,
    cancel_forced: false,
    cancel_at: null,
    timed_out: false,
    timed_out_at: null,
    deadline_at: timeout_secs,
    settled: false,
    open_jobs: jobs.length,
    error: null,
  };
  return { jobs, runs: [run] };
}

const at = (secs: number) => (secs === 0 ? null : new Date(Date.parse(BEGIN) + secs * 1000));

/** It can be claimed: the time that it may wait has begun. */
function due(job: Job): Job {
  return { ...job, expires_at: job.expires_secs === null ? null : job.run_at + job.expires_secs };
}

function newJob(given: Pick<Job, 'name' | 'run_id' | 'kind' | 'run_at'> & Partial<Job>): Job {
  return {
    position: 0,
    role: null,
    priority: 0,
    wait: NONE.wait,
    timeout_secs: null,
    expires_secs: null,
    is_live: true,
    state: 'pending',
    step: null,
    version: 1,
    attempt: -1,
    tries: 0,
    losses: 0,
    max_attempts: 1,
    run_at_most: given.run_at,
    expires_at: null,
    worker_id: null,
    is_foreign: false,
    nonce: null,
    lease_secs: null,
    lease_expires_at: null,
    cancel_asked: false,
    out_of_time: false,
    outcome: null,
    error: null,
    outputs: null,
    started_at: null,
    finished_at: null,
    settled: true,
    printed: 0,
    endings: [],
    ...given,
  };
}

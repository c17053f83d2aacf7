// Runs the handlers of one module, many at once: claims jobs of their types, calls them, reports. The worker renews the
// leases and says when to look, what to stop and when to end.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { createPool } from '@wfg/shared/db/pool';
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import type { Result } from '@wfg/shared/queries/finish';
import { type Declaration, declareHandlers } from '@wfg/shared/queries/handlers';
import { createLostClaims } from '@wfg/shared/runtime/lost-claims';
import type { Logger } from 'pino';
import { type Attempt, type Ending, startAttempt } from '../attempt.ts';
import { startClaimLoop } from '../claim-loop.ts';
import type { HostConfig } from '../config.ts';
import { createLogSink } from '../log-sink.ts';
import { tellBegin, tellFailure, tellSuccess } from '../progress.ts';
import { createReporter } from '../reporter.ts';
import type { StopReason } from '../stop-error.ts';
import { takeJobs, type Why } from '../take-jobs.ts';
import { type Call, callOf, type Definition, type HandledJob } from './call.ts';
import { executeHandler } from './execute-handler.ts';
import type { BegunAttempt, FromHost } from './protocol.ts';

/** What it handles is said again as often, so that what only a version declares that is gone is forgotten, and the rest is not. */
const DECLARE_MS = 600_000;

/** What handlers printed and the database does not yet have; more, if a single one may print more. */
const LOG_ROOM_CHARS = 32 * 1024 * 1024;

interface HostSettings {
  config: HostConfig;
  /** The worker's. */
  instance: string;
  /** By the labels of their jobs. */
  definitions: ReadonlyMap<string, Definition>;
  send: (message: FromHost) => void;
  log: Logger;
}

export interface Host extends AsyncDisposable {
  look: (why: Why) => void;
  /** Somebody follows the logs of these jobs. */
  watch: (jobKeys: readonly string[]) => void;
  stop: (id: number, reason: StopReason) => void;
  /** Waits no longer for what was told to stop, or will be. */
  hurry: () => void;
  /** Resolves when nothing more will begin. */
  drain: () => Promise<void>;
  /** Resolves when this attempt is over. */
  ended: (id: number) => Promise<unknown>;
  /** Why it cannot do its work, for /ready. */
  problems: () => string[];
}

/** One claims while another reports or stores what was printed: a server has few for all. */
const POOL_SIZE = 2;

/** Looks for jobs at once. */
export function startHost({ config, instance, definitions, send, log }: HostSettings): Host {
  const stack = new AsyncDisposableStack();
  const pool = createPool({ url: config.DATABASE_URL, name: 'handlers', max: POOL_SIZE, log });
  stack.defer(() => pool.end());
  const doorbell = stack.use(createDoorbell(pool, log));
  const reporter = stack.use(createReporter(pool, doorbell, log, () => !isDraining));
  const sink = stack.use(createLogSink(pool, doorbell, log));
  const running = new Map<number, Attempt>();
  let declaredAt: number | null = null;
  let isDraining = false;
  let ids = 0;
  const hurry = new AbortController();
  const settings = {
    patience: { graceMs: config.KILL_GRACE_SECS * 1000, hurry: hurry.signal },
    logMaxBytes: config.LOG_MAX_BYTES,
    logRoom: { most: Math.max(config.LOG_MAX_BYTES, LOG_ROOM_CHARS), taken: 0 },
  };
  const lostClaims = stack.use(createLostClaims(pool, doorbell, log));
  const claimer = {
    pool,
    doorbell,
    lostClaims,
    memory: new ClaimMemory(),
    workerId: config.WORKER_ID,
    instance,
    labels: [...definitions.keys(), ...config.WORKER_LABELS],
    leaseSecs: config.LEASE_TTL_SECS,
  };
  const claiming = stack.use(
    startClaimLoop({
      prepare: declareInTime,
      free: () => config.HANDLER_CONCURRENCY - running.size,
      take,
      tell: (busy) => send({ op: 'busy', ...busy }),
      log,
    }),
  );

  async function declareInTime(): Promise<number> {
    if (declaredAt === null || performance.now() - declaredAt > DECLARE_MS) {
      await declareHandlers(pool, [...definitions.values()].flatMap(declarationsOf));
      declaredAt = performance.now();
    }
    return 0;
  }

  async function take(limit: number, why: Why): Promise<number> {
    const taken = await takeJobs(claimer, limit, why);
    const begun = taken.flatMap((job) => {
      if (job.kind === 'command') return [];
      const definition = definitions.get(`:${job.kind} ${job.workflow_type}`);
      const call = definition && callOf(definition, job);
      return call ? [{ id: ++ids, job, call }] : [];
    });
    if (begun.length === 0) return 0;
    // Said before anything of them runs, which may end this process at once.
    send({ op: 'begun', attempts: begun.map(({ id, job }) => toBegun(id, job)) });
    for (const { id, job, call } of begun) void run(id, job, call);
    return begun.length;
  }

  async function run(id: number, job: HandledJob, call: Call): Promise<void> {
    tellBegin(log, job);
    const outlive = (result: Result | null) => send({ op: 'deaf', id, result });
    const execute = executeHandler(id, call, settings);
    const attempt = startAttempt(job, { sink, reporter, outlive, log }, execute);
    running.set(id, attempt);
    const ending = await attempt.ended;
    running.delete(id);
    send({ op: 'ended', id });
    claiming.look('freed');
    if (ending) tellEnd(job, ending);
  }

  function tellEnd(job: HandledJob, { outcome, error, state }: Ending): void {
    if (outcome === 'completed' && state !== 'cancelled') tellSuccess(log, job, state);
    if (outcome === 'failed' || outcome === 'timed_out') tellFailure(log, job, error ?? outcome, state);
  }

  return {
    look: claiming.look,
    watch: sink.watch,
    stop: (id, reason) => running.get(id)?.stop(reason),
    hurry: () => hurry.abort(),
    async drain() {
      isDraining = true;
      await claiming[Symbol.asyncDispose]();
    },
    ended: async (id) => running.get(id)?.ended,
    problems: () =>
      [claiming.problem(), reporter.problem(), sink.problem(), lostClaims.problem()].filter(
        (problem) => problem !== null,
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** What the database is to know of it, apart from this process. */
function declarationsOf(definition: Definition): Declaration[] {
  if (!('steps' in definition)) {
    const { type, backoff, timeoutSecs } = definition;
    return [
      {
        kind: 'event',
        workflow_type: type,
        step: '',
        max_attempts: null,
        backoff,
        timeout_secs: timeoutSecs,
      },
    ];
  }
  return Array.from(definition.steps, ([step, { maxAttempts, retryDelaySecs, timeoutSecs }]) => ({
    kind: 'task',
    workflow_type: definition.name,
    step,
    max_attempts: maxAttempts,
    backoff: { Fixed: { delay_secs: retryDelaySecs } },
    timeout_secs: timeoutSecs,
  }));
}

function toBegun(id: number, job: HandledJob): BegunAttempt {
  const { run_id, position, attempt, nonce, job_id, kind, workflow_type, step, tries, max_attempts } = job;
  return { id, run_id, position, attempt, nonce, job_id, kind, workflow_type, step, tries, max_attempts };
}

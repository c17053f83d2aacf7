// Wires a worker: hearing, claiming, running attempts, keeping their leases, and draining at the end.
import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Bell } from '@wfg/shared/contract/bell';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { listen } from '@wfg/shared/db/listen';
import { claimJobs } from '@wfg/shared/queries/claim';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Service, Start } from '@wfg/shared/runtime/run-service';
import { servicePool } from '@wfg/shared/runtime/service-pool';
import { VERSION } from '@wfg/shared/runtime/version';
import { type Attempt, startAttempt } from './attempt.ts';
import { drainAttempts } from './drain-attempts.ts';
import { createFitness } from './fitness.ts';
import { keepLeases } from './lease-keeper.ts';
import { createLogSink } from './log-sink.ts';
import { startRegistry } from './registry.ts';
import { createReporter } from './reporter.ts';
import type { CommandSettings } from './run-command.ts';
import { createSpawner } from './spawner.ts';

interface Config {
  DATABASE_URL: string;
  DATABASE_DIRECT_URL: string;
  WORKER_ID: string;
  WORKER_LABELS: string[];
  WORKER_CONCURRENCY: number;
  LEASE_TTL_SECS: number;
  KILL_GRACE_SECS: number;
  SHUTDOWN_GRACE_SECS: number;
  LOG_MAX_BYTES: number;
}

/**
 * Starts a worker. Disposal claims nothing more, lets what runs finish within the grace and hands the rest back.
 * stop_worker lets it finish however long that takes, and then ends the service.
 */
export async function startWorker({ config, log, stopping }: Start<Config>): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const pool = await servicePool(stack, { url: config.DATABASE_URL, name: 'worker', log }, stopping);
  const instance = randomUUID();
  const labels = [':command', ...config.WORKER_LABELS];
  const running = new Set<Attempt>();
  const done = Promise.withResolvers<void>();
  let isStopAsked = false;

  const doorbell = stack.use(createDoorbell(pool, log));
  const reporter = stack.use(createReporter(pool, doorbell, log));
  const sink = stack.use(createLogSink(pool, doorbell, log));
  const keeper = stack.use(keepLeases(pool, running, config.LEASE_TTL_SECS, log));
  const command: CommandSettings = {
    spawner: stack.use(createSpawner({ log })),
    workerId: config.WORKER_ID,
    killGraceMs: config.KILL_GRACE_SECS * 1000,
    logMaxBytes: config.LOG_MAX_BYTES,
  };
  const fitness = createFitness(command, log);
  const registry = stack.use(
    startRegistry(pool, log, {
      worker_id: config.WORKER_ID,
      instance,
      labels: config.WORKER_LABELS,
      concurrency: config.WORKER_CONCURRENCY,
      version: VERSION,
      host: hostname(),
    }),
  );
  const context = { pool, sink, reporter, fitness, command, log };
  stack.defer(() => drainAttempts(running, config.SHUTDOWN_GRACE_SECS * 1000, log));
  stack.defer(() => registry.drain());

  const claiming = stack.use(startLoop({ name: 'claim', log, step: claim }));
  const hearing = stack.use(
    listen({
      url: config.DATABASE_DIRECT_URL,
      name: 'worker',
      log,
      onBell: hear,
      onStop: (workerId) => {
        if (!isStopAsked && (workerId === null || workerId === config.WORKER_ID)) void finish();
      },
      onResync: () => {
        claiming.wake();
        keeper.wake();
      },
    }),
  );

  function hear(bell: Bell): void {
    if (bell.all || Object.keys(bell.lanes ?? {}).length > 0) claiming.wake();
    if (bell.all || bell.cancel?.some((run) => isRunning(run))) keeper.wake();
  }

  function isRunning(run: string): boolean {
    return [...running].some((attempt) => attempt.lease.run_id === run);
  }

  /** Fills the free places once; woken by a bell and whenever a place becomes free. */
  async function claim(signal: AbortSignal): Promise<number> {
    const unfitMs = await fitness.check(signal);
    if (unfitMs > 0) return unfitMs;
    const free = config.WORKER_CONCURRENCY - running.size;
    if (free === 0) return hearing.pollMs();
    const jobs = await claimJobs(pool, {
      workerId: config.WORKER_ID,
      instance,
      labels,
      limit: free,
      leaseSecs: config.LEASE_TTL_SECS,
      nonce: (randomBytes(8).readBigUInt64BE() >> 1n).toString(),
    });
    for (const job of jobs) if (job.kind === 'command') start(startAttempt(job, context));
    if (jobs.length > 0) doorbell.ring({ runs: [...new Set(jobs.map((job) => job.run_id))] });
    return hearing.pollMs();
  }

  function start(attempt: Attempt): void {
    running.add(attempt);
    void attempt.ended.finally(() => {
      running.delete(attempt);
      claiming.wake();
    });
  }

  /** Asked by stop_worker: takes nothing more, and ends when nothing runs. */
  async function finish(): Promise<void> {
    log.info({ running: running.size }, 'stop_worker: finishing what runs');
    isStopAsked = true;
    registry.drain();
    await claiming[Symbol.asyncDispose]();
    await Promise.all([...running].map((attempt) => attempt.ended));
    done.resolve();
  }

  const owned = stack.move();
  return {
    done: done.promise,
    reasons: () =>
      [
        isStopAsked ? 'stop_worker: takes nothing more' : null,
        hearing.deafReason(),
        registry.reason(),
        fitness.reason(),
        claiming.problem(),
        keeper.problem(),
        reporter.problem(),
        sink.problem(),
      ].filter((reason) => reason !== null),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

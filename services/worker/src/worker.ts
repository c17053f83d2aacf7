// Wires a worker: hearing, claiming, running attempts, keeping their leases, and draining at the end.
import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Bell } from '@wfg/shared/contract/bell';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { listen } from '@wfg/shared/db/listen';
import { assertSchema } from '@wfg/shared/db/assert-schema';
import { createPool } from '@wfg/shared/db/pool';
import { claimJobs } from '@wfg/shared/queries/claim';
import { readUpstream } from '@wfg/shared/queries/upstream';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Service, Start } from '@wfg/shared/runtime/run-service';
import { VERSION } from '@wfg/shared/runtime/version';
import { type Attempt, handBack, startAttempt } from './attempt.ts';
import { drainAttempts } from './drain-attempts.ts';
import { keepLeases } from './lease-keeper.ts';
import { createLogSink } from './log-sink.ts';
import { startRegistry } from './registry.ts';
import { createReporter } from './reporter.ts';
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

/** Starts a worker. Disposal claims nothing more, lets what runs finish within the grace and hands the rest back. */
export async function startWorker({ config, log }: Start<Config>): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const pool = createPool({ url: config.DATABASE_URL, name: 'worker', log });
  stack.defer(() => pool.end());
  await assertSchema(pool);

  const instance = randomUUID();
  const labels = [':command', ...config.WORKER_LABELS];
  const running = new Set<Attempt>();
  const stopAsked = Promise.withResolvers<void>();

  const doorbell = stack.use(createDoorbell(pool, log));
  const reporter = stack.use(createReporter(pool, doorbell, log));
  const sink = stack.use(createLogSink(pool, doorbell, log));
  const keeper = stack.use(keepLeases(pool, running, config.LEASE_TTL_SECS, log));
  const spawner = stack.use(await createSpawner({ log }));
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
  const context = {
    sink,
    reporter,
    log,
    command: {
      spawner,
      workerId: config.WORKER_ID,
      killGraceMs: config.KILL_GRACE_SECS * 1000,
      logMaxBytes: config.LOG_MAX_BYTES,
    },
  };
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
        if (workerId === null || workerId === config.WORKER_ID) stopAsked.resolve();
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
  async function claim(): Promise<number> {
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
    try {
      const upstream = await readUpstream(
        pool,
        jobs.filter((job) => job.depends_on.length > 0),
      );
      for (const job of jobs)
        start(startAttempt(job, upstream.get(`${job.run_id}-${job.position}`) ?? {}, context));
    } catch (error) {
      for (const job of jobs)
        reporter.report(handBack(job)).catch((err: unknown) => log.error({ err }, 'not handed back'));
      throw error;
    }
    if (jobs.length > 0) doorbell.ring({ runs: [...new Set(jobs.map((job) => job.run_id))] });
    return hearing.pollMs();
  }

  function start(attempt: Attempt): void {
    running.add(attempt);
    keeper.wake();
    void attempt.ended.finally(() => {
      running.delete(attempt);
      claiming.wake();
    });
  }

  const owned = stack.move();
  return {
    done: stopAsked.promise,
    reasons: () => [hearing.deafReason(), registry.reason()].filter((reason) => reason !== null),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

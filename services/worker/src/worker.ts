// Wires a worker: hearing, taking commands, keeping handler hosts, keeping the leases of both, draining at the end.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Bell } from '@wfg/shared/contract/bell';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { listen } from '@wfg/shared/db/listen';
import { isAnyDue } from '@wfg/shared/queries/any-due';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Service, Start } from '@wfg/shared/runtime/run-service';
import { createLostClaims } from '@wfg/shared/runtime/lost-claims';
import { servicePool } from '@wfg/shared/runtime/service-pool';
import { VERSION } from '@wfg/shared/runtime/version';
import type { Attempt } from './attempt.ts';
import { startBusyBoard } from './busy-board.ts';
import { takeCommands } from './commands.ts';
import type { WorkerConfig } from './config.ts';
import { drainAttempts } from './drain-attempts.ts';
import { createFitness } from './fitness.ts';
import type { Fits } from './handler-host.ts';
import { hearLanes } from './hear.ts';
import { keepHosts } from './hosts.ts';
import { keepLeases } from './lease-keeper.ts';
import { createLogSink } from './log-sink.ts';
import { startRegistry } from './registry.ts';
import { createReporter } from './reporter.ts';
import { createSpawner } from './spawner.ts';
import { createSurrenderer } from './surrender.ts';
import type { Why } from './take-jobs.ts';

/** With one for leases and one that listens, twenty workers fit a server that has connections for a hundred. */
const POOL_SIZE = 2;
/** The bounds of how long a handler host may be silent: half a lease within them. */
const SHORTEST_SILENCE_MS = 5_000;
const LONGEST_SILENCE_MS = 15_000;

/**
 * Starts a worker. Disposal takes nothing more, lets what runs finish within the
 * grace and hands the rest back. stop_worker lets it finish however long that takes, and then ends the service.
 */
export async function startWorker({ config, log, ...starting }: Start<WorkerConfig>): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const pool = await servicePool(
    stack,
    { url: config.DATABASE_URL, name: 'worker', max: POOL_SIZE, log },
    starting,
  );
  const instance = randomUUID();
  const workerId = config.WORKER_ID;
  const graceMs = config.SHUTDOWN_GRACE_SECS * 1000;
  const killGraceMs = config.KILL_GRACE_SECS * 1000;
  /** By a second signal. */
  const hurry = new AbortController();
  const held = new Set<Attempt>();
  const done = Promise.withResolvers<void>();
  let isStopAsked = false;

  const doorbell = stack.use(createDoorbell(pool, log));
  const reporter = stack.use(createReporter(pool, doorbell, log));
  const sink = stack.use(createLogSink(pool, doorbell, log));
  const lostClaims = stack.use(createLostClaims(pool, doorbell, log));
  const surrenderer = stack.use(createSurrenderer(pool, doorbell, log));
  const keeper = stack.use(
    keepLeases({ url: config.DATABASE_URL, name: 'leases', log }, held, config.LEASE_TTL_SECS),
  );
  const hearing = stack.use(
    listen({
      url: config.DATABASE_DIRECT_URL,
      name: 'worker',
      log,
      onBell: hear,
      onStop: (id) => {
        if (!isStopAsked && (id === null || id === workerId)) void finish();
      },
      onResync: () => {
        looking.wake();
        keeper.wake();
      },
    }),
  );
  const spawner = stack.use(createSpawner({ log, hiddenDir: config.HIDDEN_DIR }));
  const command = {
    spawner,
    workerId,
    patience: { graceMs: killGraceMs, hurry: hurry.signal },
    logMaxBytes: config.LOG_MAX_BYTES,
  };
  const board = stack.use(
    startBusyBoard({
      pool,
      log,
      workerId,
      instance,
      look: (kinds) => look('freed', (offered) => kinds.some((kind) => offered.includes(kind))),
    }),
  );
  const fitness = createFitness(command, log);
  const hosts = stack.use(
    keepHosts({
      modules: config.WFG_MODULES,
      workerId,
      instance,
      silenceMs: Math.min(Math.max(config.LEASE_TTL_SECS * 500, SHORTEST_SILENCE_MS), LONGEST_SILENCE_MS),
      held,
      surrenderer,
      reporter,
      graceMs,
      killGraceMs,
      hurry: hurry.signal,
      spawner,
      offered: config.WORKER_LABELS,
      tell: board.tell,
      onChange: () => registry.offer(hosts.modules()),
      log,
    }),
  );
  /** Why it cannot run what it should. */
  const unfit = () => [fitness.reason(), ...hosts.reasons()].filter((reason) => reason !== null);
  const registry = stack.use(
    startRegistry(
      pool,
      log,
      {
        worker_id: workerId,
        instance,
        labels: config.WORKER_LABELS,
        concurrency: config.WORKER_CONCURRENCY,
        handler_concurrency: config.HANDLER_CONCURRENCY,
        version: VERSION,
        host: hostname(),
      },
      unfit,
      () => looking.wake(),
    ),
  );
  stack.defer(() =>
    drainAttempts({
      running: held,
      closed: close(),
      graceMs,
      killGraceMs,
      hurry: hurry.signal,
      giveUp: hosts.kill,
      log,
    }),
  );
  const commands = takeCommands({
    context: { pool, sink, reporter, fitness, command, log },
    claimer: { pool, doorbell, lostClaims, workerId, instance, leaseSecs: config.LEASE_TTL_SECS },
    labels: config.WORKER_LABELS,
    concurrency: config.WORKER_CONCURRENCY,
    held,
    tell: (busy) => board.tell([':command'], busy),
  });
  // Not every bell is heard.
  const looking = startLoop({
    name: 'look',
    log,
    step: async () => {
      if (await isAnyDue(pool, [':command', ...config.WORKER_LABELS, ...hosts.labels()])) look('poll');
      return hearing.pollMs();
    },
  });

  function look(why: Why, fits: Fits = () => true): void {
    if (fits([':command', ...config.WORKER_LABELS])) commands.look(why);
    hosts.look(why, fits);
  }

  function hear(bell: Bell): void {
    hearLanes(bell, workerId, registry.peers(), (fits) => look('bell', fits));
    if (bell.all || bell.cancel?.some((run) => isRunning(run))) keeper.wake();
    if (bell.watch) {
      sink.watch(bell.watch);
      hosts.watch(bell.watch);
    }
  }

  function isRunning(run: string): boolean {
    return [...held].some((attempt) => attempt.lease.run_id === run);
  }

  /** Resolves when nothing more can begin. */
  async function close(): Promise<void> {
    registry.drain();
    const ends = [looking[Symbol.asyncDispose](), commands[Symbol.asyncDispose](), hosts.drain()];
    await Promise.all(ends);
  }

  /** Asked by stop_worker: takes nothing more, and ends when nothing runs. */
  async function finish(): Promise<void> {
    isStopAsked = true;
    await close();
    log.info({ running: held.size }, 'stop_worker: finishing what runs');
    await Promise.all([...held].map((attempt) => attempt.ended));
    done.resolve();
  }

  const owned = stack.move();
  return {
    done: done.promise,
    force: () => hurry.abort(),
    reasons: () =>
      [
        isStopAsked ? 'stop_worker: takes nothing more' : null,
        hearing.deafReason(),
        registry.reason(),
        board.problem(),
        commands.problem(),
        looking.problem(),
        keeper.problem(),
        reporter.problem(),
        sink.problem(),
        surrenderer.problem(),
        lostClaims.problem(),
        ...unfit(),
      ].filter((reason) => reason !== null),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

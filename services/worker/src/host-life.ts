// One life of a handler host: its process, what it runs, and whether it still answers.
import { basename } from 'node:path';
import type { Result } from '@wfg/shared/queries/finish';
import { jitter } from '@wfg/shared/rules/pause';
import { addCarried } from '@wfg/shared/runtime/carried';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Logger } from 'pino';
import type { Attempt } from './attempt.ts';
import { startHostProcess } from './host-process.ts';
import type { BegunAttempt, FromHost } from './host/protocol.ts';
import type { Busy } from './pace.ts';
import type { Reporter } from './reporter.ts';
import type { Spawner } from './spawner.ts';
import type { Surrenderer } from './surrender.ts';
import type { Why } from './take-jobs.ts';
import { within } from './within.ts';

/** Unanswered ones in a row that prove that a host hangs; counted, since this process may itself have been stopped. */
const PINGS = 4;
/** The same of a host that has yet to start and to load its module. */
const LOADING_PINGS = 4 * PINGS;
/** For the orderly end of a host that runs nothing. */
const CLOSE_MS = 2_000;

export interface HostSettings {
  /** The module's file. */
  file: string;
  workerId: string;
  instance: string;
  /** How long it may be silent, in milliseconds, before it is killed. */
  silenceMs: number;
  /** Its attempts are here while they run. */
  held: Set<Attempt>;
  surrenderer: Surrenderer;
  reporter: Reporter;
  /** Aborted when it is to wait no longer for what was told to stop. */
  hurry: AbortSignal;
  spawner: Spawner;
  log: Logger;
}

export interface HostLife {
  look: (why: Why) => void;
  /** Somebody follows the logs of these jobs. */
  watch: (jobKeys: readonly string[]) => void;
  /** Resolves when nothing more can begin. From then on it is killed when all that it runs will not stop. */
  drain: () => Promise<void>;
  /** What it runs, but for what was told to stop and goes on. */
  heeding: ReadonlySet<Attempt>;
  /** Resolves when something was told to stop and goes on. */
  deaf: Promise<void>;
  /** Ends it in order; nothing may run any more. Resolves when it is dead. */
  close: () => Promise<void>;
  kill: () => void;
  /** Why it cannot do its work, as it says itself. */
  problems: () => readonly string[];
  /** Resolves with why, once it is dead. */
  died: Promise<string>;
  /** Resolves when also what it ran has been given up: not as long as someone holds a row of it locked. */
  settled: Promise<void>;
}

interface RunningAttempt extends Attempt {
  begun: BegunAttempt;
  /** To be reported when it is dead; undefined unless it goes on although it was told to stop. */
  result?: Result | null;
  end: () => void;
}

/**
 * `admit` is called with the labels of what it handles once its module is loaded, and says why it may not; or null. `tell`
 * is told how busy it is.
 */
export function startHostLife(
  settings: HostSettings,
  admit: (labels: string[]) => string | null,
  tell: (busy: Busy) => void,
): HostLife {
  const { file, silenceMs, held, surrenderer, reporter, hurry, log } = settings;
  const running = new Map<number, RunningAttempt>();
  const heeding = new Set<Attempt>();
  const deaf = Promise.withResolvers<void>();
  const errors = new Map<number | null, string>();
  const drained = Promise.withResolvers<void>();
  let isDrained = false;
  let unanswered = 0;
  let mostUnanswered = LOADING_PINGS;
  let problems: string[] = [];
  let broken: string | null = null;
  const process = startHostProcess({ ...settings, hear });
  const pinging = startLoop({ name: 'ping', log, step: ping });

  function hear(message: FromHost): void {
    unanswered = 0;
    if (message.op === 'ready') ready(message.labels);
    else if (message.op === 'broken') broken = `it cannot be loaded: ${message.error}`;
    else if (message.op === 'pong') answered(message);
    else if (message.op === 'busy') tell(message);
    else if (message.op === 'begun') message.attempts.forEach(begin);
    else if (message.op === 'ended') running.get(message.id)?.end();
    else if (message.op === 'deaf') outlive(message.id, message.result);
    else if (message.op === 'drained') becomeDrained();
    else if (message.op === 'fault') errors.set(message.id, message.error);
  }

  function answered({ problems: told, carried }: Extract<FromHost, { op: 'pong' }>): void {
    problems = told;
    addCarried(carried);
  }

  function ready(labels: string[]): void {
    const refusal = admit(labels);
    if (refusal !== null) {
      broken = refusal;
      return process.kill();
    }
    process.send({ op: 'serve' });
    log.info(
      { file, handles: labels.map((label) => label.slice(1)), host_pid: process.pid },
      'handlers loaded',
    );
    mostUnanswered = PINGS;
  }

  function outlive(id: number, result: Result | null): void {
    const attempt = running.get(id);
    if (!attempt) return;
    attempt.result = result;
    heeding.delete(attempt);
    deaf.resolve();
    endIfDeaf();
  }

  function becomeDrained(): void {
    isDrained = true;
    drained.resolve();
    endIfDeaf();
  }

  /** There is no other way to stop what does not stop when it is told to, and nobody else's work is lost by it. */
  function endIfDeaf(): void {
    if (isDrained && running.size > 0 && heeding.size === 0) process.kill();
  }

  function begin(begun: BegunAttempt): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const attempt: RunningAttempt = {
      begun,
      lease: begun,
      stop: (reason) => process.send({ op: 'stop', id: begun.id, reason }),
      ended: promise,
      end() {
        running.delete(begun.id);
        heeding.delete(attempt);
        held.delete(attempt);
        resolve();
        endIfDeaf();
      },
    };
    running.set(begun.id, attempt);
    heeding.add(attempt);
    held.add(attempt);
  }

  async function ping(): Promise<number> {
    if (unanswered === mostUnanswered) process.kill();
    unanswered++;
    process.send({ op: 'ping' });
    return jitter(silenceMs / PINGS);
  }

  async function die(): Promise<string> {
    const how = await process.ended;
    await pinging[Symbol.asyncDispose]();
    problems = [];
    drained.resolve();
    const silentSecs = (mostUnanswered / PINGS) * (silenceMs / 1000);
    const hung = unanswered > mostUnanswered ? `it did not answer for ${silentSecs} s` : null;
    const [error = null] = errors.values();
    return broken ?? error ?? hung ?? how;
  }

  async function settle(): Promise<void> {
    const reason = await died;
    const dead = [...running.values()];
    for (const attempt of dead) attempt.end();
    const stopped = dead.filter(({ begun, result }) => result !== undefined && !errors.has(begun.id));
    const lost = dead.filter((attempt) => !stopped.includes(attempt));
    const attempts = lost.map(({ begun }) => ({ ...begun, error: errors.get(begun.id) ?? null }));
    await Promise.all([
      surrenderer.give(attempts, `the handler host of ${basename(file)} died: ${reason}`),
      ...stopped.map(({ result }) => result && report(result)),
    ]);
  }

  async function report(result: Result): Promise<void> {
    await reporter.report(result).catch((error: unknown) => {
      log.error({ err: error, run_id: result.run_id }, 'no result: the lease will run out');
    });
  }

  const onHurry = () => process.send({ op: 'hurry' });
  hurry.addEventListener('abort', onHurry);
  void process.ended.then(() => hurry.removeEventListener('abort', onHurry));

  const died = die();
  return {
    look: (why) => process.send({ op: 'look', why }),
    watch: (keys) => process.send({ op: 'watch', keys }),
    async drain() {
      process.send({ op: 'drain' });
      await drained.promise;
    },
    async close() {
      process.send({ op: 'close' });
      if (!(await within(died, CLOSE_MS))) process.kill();
      await died;
    },
    heeding,
    deaf: deaf.promise,
    kill: process.kill,
    problems: () => problems,
    died,
    settled: settle(),
  };
}

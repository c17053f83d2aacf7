// One life of a handler host: its process, what it runs, and whether it still answers.
import { basename } from 'node:path';
import { jitter } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Logger } from 'pino';
import type { Attempt } from './attempt.ts';
import { startHostProcess } from './host-process.ts';
import type { BegunAttempt, FromHost } from './host/protocol.ts';
import type { Spawner } from './spawner.ts';
import type { Surrenderer } from './surrender.ts';
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
  spawner: Spawner;
  log: Logger;
}

export interface HostLife {
  look: () => void;
  /** Resolves when nothing more can begin. */
  drain: () => Promise<void>;
  /** Ends it in order; nothing may run any more. */
  close: () => Promise<void>;
  kill: () => void;
  /** Why it cannot do its work, as it says itself. */
  problems: () => readonly string[];
  /** Resolves with why, once it is dead and what it ran has been given up. */
  ended: Promise<string>;
}

interface RunningAttempt extends Attempt {
  begun: BegunAttempt;
  end: () => void;
}

/** `admit` is called with the labels of what it handles once its module is loaded, and says why it may not; or null. */
export function startHostLife(settings: HostSettings, admit: (labels: string[]) => string | null): HostLife {
  const { file, silenceMs, held, surrenderer, log } = settings;
  const running = new Map<number, RunningAttempt>();
  const errors = new Map<number | null, string>();
  const drained = Promise.withResolvers<void>();
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
    else if (message.op === 'pong') problems = message.problems;
    else if (message.op === 'begun') message.attempts.forEach(begin);
    else if (message.op === 'ended') running.get(message.id)?.end();
    else if (message.op === 'drained') drained.resolve();
    else if (message.op === 'fault') errors.set(message.id, message.error);
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

  function begin(begun: BegunAttempt): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const attempt: RunningAttempt = {
      begun,
      lease: begun,
      stop: (reason) => process.send({ op: 'stop', id: begun.id, reason }),
      ended: promise,
      end() {
        running.delete(begun.id);
        held.delete(attempt);
        resolve();
      },
    };
    running.set(begun.id, attempt);
    held.add(attempt);
  }

  async function ping(): Promise<number> {
    if (unanswered === mostUnanswered) process.kill();
    unanswered++;
    process.send({ op: 'ping' });
    return jitter(silenceMs / PINGS);
  }

  async function end(): Promise<string> {
    const how = await process.ended;
    await pinging[Symbol.asyncDispose]();
    const silentSecs = (mostUnanswered / PINGS) * (silenceMs / 1000);
    const hung = unanswered > mostUnanswered ? `it did not answer for ${silentSecs} s` : null;
    const [error = null] = errors.values();
    const reason = broken ?? error ?? hung ?? how;
    const dead = [...running.values()];
    for (const attempt of dead) attempt.end();
    drained.resolve();
    const attempts = dead.map(({ begun }) => ({ ...begun, error: errors.get(begun.id) ?? null }));
    await surrenderer.give(attempts, `the handler host of ${basename(file)} died: ${reason}`);
    return reason;
  }

  const ended = end();
  return {
    look: () => process.send({ op: 'look' }),
    async drain() {
      process.send({ op: 'drain' });
      await drained.promise;
    },
    async close() {
      process.send({ op: 'close' });
      if (!(await within(ended, CLOSE_MS))) process.kill();
      await ended;
    },
    kill: process.kill,
    problems: () => problems,
    ended,
  };
}

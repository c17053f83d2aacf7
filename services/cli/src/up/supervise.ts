// One service under `wfg up`: a process that is started again when it crashes, until it is stopped.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryPause } from '@wfg/shared/rules/pause';
import type { Logger } from 'pino';
import { usage } from '../exit-error.ts';

/** Who lived as long as this has not failed to start. */
const STEADY_MS = 30_000;
/** What a process said last may arrive after its end; what it started may hold its output open for ever. */
const LAST_WORDS_MS = 500;
/** Beyond its own grace, after which a service ends itself. */
const KILL_AFTER_MS = 2_000;
/** A service says by this that its configuration is wrong: started again it would only say so again. */
const WRONG_CONFIGURATION = 2;

export interface ServiceSpec {
  name: string;
  /** Its main file. */
  main: string;
  /** Asked at each start. */
  env: () => NodeJS.ProcessEnv;
  /** It ends well when it has been told to by others (stop_worker), and is then not started again. */
  mayEnd: boolean;
}

interface Watch {
  log: Logger;
  /** A line of its output. */
  onLine: (name: string, line: string) => void;
  /** It has been started, or has ended. */
  onChange: () => void;
}

export interface Supervised {
  name: string;
  pid: () => number | undefined;
  /** Asks it to end and resolves when it has; kills it some time after its grace. */
  stop: (graceMs: number) => Promise<void>;
  /** Kills it at once. */
  kill: () => void;
  /** Rejects when it cannot run. */
  failed: Promise<never>;
}

interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export function supervise(
  { name, main, env, mayEnd }: ServiceSpec,
  { log, onLine, onChange }: Watch,
): Supervised {
  const stopping = new AbortController();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  let child: ChildProcess | undefined;

  async function runOnce(): Promise<End> {
    const { promise: ended, resolve, reject } = Promise.withResolvers<End>();
    const started = spawn(process.execPath, [main], {
      env: env(),
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C in the terminal must not reach it before its turn to stop.
      detached: true,
    });
    child = started;
    started.once('error', reject);
    started.once('exit', (code, signal) => resolve({ code, signal }));
    const closed = new Promise<void>((done) => started.once('close', () => done()));
    for (const input of [started.stdout, started.stderr])
      createInterface({ input }).on('line', (line) => onLine(name, line));
    onChange();
    try {
      const end = await ended;
      await Promise.race([closed, sleep(LAST_WORDS_MS)]);
      return end;
    } finally {
      child = undefined;
      onChange();
    }
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      const since = performance.now();
      const { code, signal } = await runOnce();
      if (stopping.signal.aborted) return;
      if (code === 0 && mayEnd) return log.info(`${name} was told to stop, and is not started again`);
      const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
      if (code === WRONG_CONFIGURATION)
        throw usage(`${name} cannot run with this configuration: see its lines`);
      failures = performance.now() - since > STEADY_MS ? 1 : failures + 1;
      const pauseMs = retryPause(failures);
      log.warn(`${name} ${how}: starting it again in ${(pauseMs / 1000).toFixed(1)} s`);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const over = run().catch((err: unknown) => failure.reject(err));
  return {
    name,
    pid: () => child?.pid,
    failed: failure.promise,
    kill: () => void child?.kill('SIGKILL'),
    async stop(graceMs) {
      stopping.abort();
      child?.kill('SIGTERM');
      const late = setTimeout(() => {
        log.warn(`${name} does not stop: killing it`);
        child?.kill('SIGKILL');
      }, graceMs + KILL_AFTER_MS);
      await over;
      clearTimeout(late);
    },
  };
}

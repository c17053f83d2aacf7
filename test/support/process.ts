// Runs the services as `npm start` does: each a process of its own, killed and stopped like one.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { directUrl } from './direct-url.ts';
import { waitFor } from './wait-for.ts';

export type ServiceName = 'api' | 'scheduler' | 'worker' | 'reaper';

/** A line of a service's log. */
interface LogLine {
  msg?: string;
  level?: string;
  [field: string]: unknown;
}

export interface TestProcess extends AsyncDisposable {
  pid: number;
  /** What it has logged so far, oldest first. */
  logs: LogLine[];
  /**
   * The first log line with this message, there already or to come; fails when the process ends without it, or within
   * a limit that is far beyond the start of many processes at once on a slow machine.
   */
  logged: (msg: string) => Promise<LogLine>;
  /** Sends a signal to this process alone: SIGKILL is `kill -9`. */
  signal: (name: NodeJS.Signals) => void;
  ended: Promise<Exit>;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const LOG_LIMIT_MS = 60_000;
/** Beyond what a service gives itself, after which it ends with an error: 16 s by default. */
const STOP_LIMIT_MS = 40_000;
/** Enough to find what a test waits for, not enough to fill the memory. */
const KEPT_LINES = 20_000;
const TAIL_LINES = 15;

/**
 * Starts services/<name>/src/main.ts with nothing of our environment but what a program needs, and `env` on
 * top; DATABASE_URL must be in it. Disposing of it asks it to stop, and fails if it does not or if it ended
 * with an error.
 */
export function startService(name: ServiceName, env: Record<string, string>): TestProcess {
  const main = fileURLToPath(new URL(`../../services/${name}/src/main.ts`, import.meta.url));
  return startProcess(name, [main], { HEALTH_PORT: '0', PORT: '0', LOG_LEVEL: 'debug', ...env });
}

/** LISTEN does not pass a pooler. */
function listenEnv({ DATABASE_URL }: Record<string, string>): Record<string, string> {
  return inject('isPooled') && DATABASE_URL !== undefined
    ? { DATABASE_DIRECT_URL: directUrl(DATABASE_URL) }
    : {};
}

/** What any program of ours needs of our environment. */
export function programEnv(): NodeJS.ProcessEnv {
  const folder = inject('runFolder');
  // Modules are compiled by the first process that loads them, and not again by each of hundreds.
  return { PATH: process.env.PATH, TMPDIR: folder, NODE_COMPILE_CACHE: join(folder, 'compiled') };
}

/** The same for any program that logs JSON lines; `args` are node's. */
export function startProcess(name: string, args: string[], env: Record<string, string>): TestProcess {
  const child = spawn(process.execPath, args, {
    env: { ...programEnv(), WFG_PARENT_PID: String(process.pid), ...listenEnv(env), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C in the terminal stops the tests, and they stop this.
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${name}`);
  const logs: LogLine[] = [];
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => keep(logs, line));

  let exit: Exit | undefined;
  let signalled = false;
  const ended = new Promise<Exit>((resolve) => {
    // Not 'close': what it has started may hold its output open.
    child.once('exit', (code, by) => resolve((exit = { code, signal: by })));
  });
  const failure = (what: string) => {
    const lines = logs.slice(-TAIL_LINES).map((line) => JSON.stringify(line));
    return new Error([`${name} ${what}; its last lines:`, ...lines].join('\n'));
  };

  function signal(signalName: NodeJS.Signals): void {
    signalled = true;
    child.kill(signalName);
  }

  async function logged(msg: string): Promise<LogLine> {
    const line = await waitFor(
      `"${msg}" from ${name}`,
      () => logs.find((entry) => entry.msg === msg) ?? (exit && 'ended'),
      LOG_LIMIT_MS,
    ).catch(() => undefined);
    if (line === undefined) throw failure(`does not log "${msg}"`);
    if (line === 'ended') throw failure(`ended with ${exit?.code ?? exit?.signal} before it logged "${msg}"`);
    return line;
  }

  async function stop(): Promise<void> {
    const byItself = exit !== undefined && !signalled;
    const asked = exit === undefined && !signalled;
    if (exit === undefined) child.kill('SIGTERM');
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, STOP_LIMIT_MS);
    const { code, signal: by } = await ended;
    clearTimeout(timer);
    if (late) throw failure(`did not stop within ${STOP_LIMIT_MS} ms`);
    if (byItself && code !== 0) throw failure(`ended by itself with ${code ?? by}`);
    // By the signal itself ends what has only just been started.
    if (asked && by === null && code !== 0) throw failure(`was asked to stop, and ended with ${code}`);
  }

  return { pid, logs, logged, signal, ended, [Symbol.asyncDispose]: stop };
}

function keep(logs: LogLine[], text: string): void {
  logs.push(parse(text));
  if (logs.length > KEPT_LINES) logs.shift();
}

/** What is no JSON object, a stack trace for example, is kept as a message. */
function parse(text: string): LogLine {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : { msg: text };
  } catch {
    return { msg: text };
  }
}

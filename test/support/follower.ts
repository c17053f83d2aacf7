// A wfg command that follows something, and what it has shown so far.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { programEnv } from './process.ts';
import { CLI } from './wfg.ts';

export interface Follower extends Disposable {
  /** On its standard output. */
  lines: string[];
  /** On its standard error. */
  said: string[];
  signal: (name: NodeJS.Signals) => void;
  /** Its exit code. */
  done: Promise<unknown>;
}

/** At the api at `url`. */
export function follow(url: string, ...args: string[]): Follower {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { ...programEnv(), WFG_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [lines, said]: [string[], string[]] = [[], []];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  return {
    lines,
    said,
    signal: (name) => child.kill(name),
    done: once(child, 'close').then(([code]: unknown[]) => code),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

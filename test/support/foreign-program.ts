// Runs a worker of deploy/examples, which another program than Node executes.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

export interface ForeignProgram extends AsyncDisposable {
  pid: number;
  signal: (name: NodeJS.Signals) => void;
  /** Resolves with its exit code, or the signal that ended it. */
  ended: Promise<number | string>;
}

/** @throws {Error} that names the programs which are missing. */
export function assertPrograms(...programs: string[]): void {
  const missing = programs.filter((program) => spawnSync(program, ['--version']).status !== 0);
  if (missing.length > 0)
    throw new Error(`npm run test:foreign needs ${missing.join(', ')}: install them first`);
}

/** Starts deploy/examples/<file>; disposal asks it to stop. */
export function startForeign(program: string, file: string, env: Record<string, string>): ForeignProgram {
  const path = fileURLToPath(new URL(`../../deploy/examples/${file}`, import.meta.url));
  const child = spawn(program, [path], {
    env: { PATH: process.env.PATH, TMPDIR: inject('runFolder'), ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  if (child.pid === undefined) throw new Error(`cannot start ${program}`);
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'gone'));
  });
  return {
    pid: child.pid,
    signal: (name) => child.kill(name),
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await ended;
      clearTimeout(late);
    },
  };
}

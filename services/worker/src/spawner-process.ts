// One spawner process as the worker sees it: requests with their answers, exits of commands, and its end.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SpawnerError } from './spawn-error.ts';
import type { Exited, Reply, Request } from './spawner/protocol.ts';

const PROGRAM = fileURLToPath(new URL('spawner/main.ts', import.meta.url));
const HIDE_FOLDER = fileURLToPath(new URL('spawner/hide-folder.pl', import.meta.url));
/** Longer than the slowest start of a process on a machine that still works. */
const ANSWER_MS = 20_000;

export interface SpawnerProcess {
  /** Resolves with the pid of what was started. Rejects when it refuses, dies or does not answer. */
  ask: (request: Exclude<Request, { op: 'forget' | 'guard' }>) => Promise<number>;
  /** It kills this process too when the worker is gone, until it is told to forget it. */
  guard: (id: number, guarded: Guarded) => void;
  forget: (id: number) => void;
  isDead: () => boolean;
  /** Resolves with the reason when it is dead. */
  died: Promise<string>;
  /** Closes the channel, upon which it kills all trees, removes the folder and ends. */
  close: () => void;
}

export interface Guarded {
  /** Leads a process group of its own. */
  pid: number;
  /** The value of MARK in its environment. */
  mark: string;
}

interface SpawnerProcessSettings {
  baseDir: string;
  /** A folder in which it, and all that it starts, can read no file. */
  hiddenDir: string | undefined;
  /** Called once for each command that was started. */
  onExited: (exited: Exited) => void;
}

export function startSpawnerProcess({
  baseDir,
  hiddenDir,
  onExited,
}: SpawnerProcessSettings): SpawnerProcess {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const plain = [PROGRAM, baseDir];
  const [program, args] =
    hiddenDir === undefined
      ? [process.execPath, plain]
      : ['perl', [HIDE_FOLDER, hiddenDir, process.execPath, ...plain]];
  const child = spawn(program, args, {
    cwd: '/',
    // Commands can read it in /proc, so it holds none of the worker's secrets.
    env: { PATH, NODE_COMPILE_CACHE },
    // Apart from the worker's group, so that Ctrl-C does not reach it.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const asked = new Map<number, PromiseWithResolvers<number>>();
  const died = Promise.withResolvers<string>();
  let death: string | null = null;

  function die(reason: string): void {
    death = reason;
    died.resolve(reason);
    for (const { reject } of asked.values()) reject(new SpawnerError(reason));
  }

  child.on('message', (reply: Reply) => {
    if (reply.op === 'exited') onExited(reply);
    else if (reply.op === 'done') asked.get(reply.id)?.resolve(reply.pid);
    else asked.get(reply.id)?.reject(new Error(reply.error));
  });
  child.once('error', (err) => die(`the spawner cannot be started: ${err.message}`));
  child.once('exit', (code, signal) => die(`the spawner died (${signal ?? `exit code ${code}`})`));

  function tell(request: Request): void {
    child.send(request, () => undefined);
  }

  return {
    async ask(request) {
      if (death !== null) throw new SpawnerError(death);
      const answer = Promise.withResolvers<number>();
      asked.set(request.id, answer);
      const timer = setTimeout(() => child.kill('SIGKILL'), ANSWER_MS);
      // Whoever cannot be spoken to is dying: its end is what the answer is then.
      child.send(request, (err) => err && child.kill('SIGKILL'));
      try {
        return await answer.promise;
      } finally {
        clearTimeout(timer);
        asked.delete(request.id);
      }
    },
    guard: (id, guarded) => tell({ op: 'guard', id, ...guarded }),
    forget: (id) => tell({ op: 'forget', id }),
    isDead: () => death !== null,
    died: died.promise,
    close() {
      if (child.connected) child.disconnect();
      setTimeout(() => child.kill('SIGKILL'), ANSWER_MS).unref();
    },
  };
}

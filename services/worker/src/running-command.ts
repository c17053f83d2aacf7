// A command that was started, as its attempt handles it: two streams, an end, and a tree that can be killed.

import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { groupExists, killTrees, type Patience } from './kill-tree.ts';
import type { Tree } from './process-table.ts';

/** The part of a pino logger that is used. */
export interface Log {
  warn: (fields: object, message: string) => void;
}

export interface CommandExit {
  code: number | null;
  signal: string | null;
  /** Set when nothing is known of the command but that it is gone. */
  error: string | null;
}

export interface RunningCommand {
  stdout: Readable;
  stderr: Readable;
  /** The end of the shell; its output may go on. Never rejects. */
  exited: Promise<CommandExit>;
  /** Whether background children of the shell are still in its process group. */
  hasGroup: () => boolean;
  /** SIGTERM, after the grace SIGKILL, to all of the attempt. Resolves when nothing is left, at most 4 s after. */
  kill: (patience: Patience) => Promise<void>;
  /** The same to what is still in its process group, and to nothing else. */
  killGroup: (patience: Patience) => Promise<void>;
  /** Closes the output and leaves alone what still runs. */
  release: () => void;
}

export interface Started {
  tree: Tree;
  exited: Promise<CommandExit>;
  /** Read ends of its pipes, not blocking. */
  stdout: number;
  stderr: number;
  forget: () => void;
  log: Log;
}

export function runningCommand({ tree, exited, log, forget, ...fds }: Started): RunningCommand {
  const stdout = readPipe(fds.stdout);
  const stderr = readPipe(fds.stderr);

  async function kill(what: Tree, patience: Patience): Promise<void> {
    const pids = await killTrees([what], patience);
    if (pids.length > 0) log.warn({ pids }, 'processes could not be killed');
  }

  return {
    stdout,
    stderr,
    exited,
    hasGroup: () => tree.pid !== null && groupExists(tree.pid),
    kill: (patience) => kill(tree, patience),
    killGroup: (patience) => kill({ ...tree, mark: null }, patience),
    release() {
      stdout.destroy();
      stderr.destroy();
      forget();
    },
  };
}

function readPipe(fd: number): Readable {
  const socket = new Socket({ fd, readable: true, writable: false });
  // A pipe that breaks is a pipe that ends: `close` follows.
  socket.on('error', () => undefined);
  return socket;
}

// Starts commands, by way of a spawner process that kills their trees when this worker is killed.

import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFifoPool } from './fifo-pool.ts';
import { killTrees } from './kill-tree.ts';
import type { Tree } from './process-table.ts';
import { removeTree } from './remove-tree.ts';
import { type CommandExit, type Log, type RunningCommand, runningCommand } from './running-command.ts';
import { type Exited, MARK } from './spawner/protocol.ts';
import { type SpawnerProcess, startSpawnerProcess } from './spawner-process.ts';

export interface CommandSpec {
  /** An absolute path. */
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Common to all commands of an attempt: each of them kills what any of them left. */
  mark: string;
}

export interface Spawner extends AsyncDisposable {
  /** Rejects with a clear text if the command cannot be started; nothing of it is left then. */
  start: (spec: CommandSpec) => Promise<RunningCommand>;
  /** This worker's own folder, for its jobs. It is removed when the worker is gone, killed or not. */
  baseDir: string;
  /** For what goes wrong around a command and is not its user's business. */
  log: Log;
}

interface Command {
  tree: Tree;
  exit: PromiseWithResolvers<CommandExit>;
}

/** One spawner process, and what it started that is not yet released. */
interface Life {
  process: SpawnerProcess;
  commands: Map<number, Command>;
  /** Resolves when it is dead and its trees are too. */
  buried: Promise<void>;
}

/** Starts the spawner process at once, so that the first command need not wait for it. */
export async function createSpawner({ log }: { log: Log }): Promise<Spawner> {
  const baseDir = await mkdtemp(join(tmpdir(), 'wfg-worker-'));
  let ids = 0;
  let closed = false;
  let life: Life | null = null;
  const fifos = createFifoPool(baseDir, async (paths) => {
    await connect().process.ask({ op: 'fifos', id: ++ids, paths });
  });

  function connect(): Life {
    if (closed) throw new Error('the worker is stopping');
    if (!life || life.process.isDead()) life = begin();
    return life;
  }

  function begin(): Life {
    const commands = new Map<number, Command>();
    const process = startSpawnerProcess(baseDir, (exited) => noteExit(commands.get(exited.id), exited));
    return { process, commands, buried: bury(process, commands) };
  }

  async function bury(process: SpawnerProcess, commands: Map<number, Command>): Promise<void> {
    const reason = await process.died;
    if (!closed) log.warn({ reason, commands: commands.size }, 'spawner died, its commands are killed');
    await killTrees(
      Array.from(commands.values(), ({ tree }) => tree),
      0,
    );
    const error = `${closed ? 'the worker stopped' : reason}: the command was killed`;
    for (const { exit } of commands.values()) exit.resolve({ code: null, signal: null, error });
  }

  async function start({ mark, env, ...spec }: CommandSpec): Promise<RunningCommand> {
    const pipes = { stdout: await fifos.take(), stderr: await fifos.take() };
    const { process, commands, buried } = connect();
    const id = ++ids;
    const tree: Tree = { pid: null, ended: false, mark };
    const exit = Promise.withResolvers<CommandExit>();
    const fds: number[] = [];
    commands.set(id, { tree, exit });
    try {
      const stdout = openReadEnd(pipes.stdout, fds);
      const stderr = openReadEnd(pipes.stderr, fds);
      const pid = await process.ask({
        op: 'start',
        id,
        ...spec,
        ...pipes,
        mark,
        env: { ...env, [MARK]: mark },
      });
      // Its exit may have been reported in the same breath.
      if (!tree.ended) tree.pid = pid;
      const forget = () => {
        commands.delete(id);
        process.forget(id);
      };
      return runningCommand({ tree, exited: exit.promise, stdout, stderr, forget, log });
    } catch (err) {
      for (const fd of fds) closeSync(fd);
      for (const path of Object.values(pipes)) rmSync(path, { force: true });
      if (process.isDead()) await buried;
      commands.delete(id);
      throw err;
    }
  }

  connect();
  return {
    start,
    baseDir,
    log,
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      life?.process.close();
      await life?.buried;
      await removeTree(baseDir);
    },
  };
}

function noteExit(command: Command | undefined, { pid, code, signal, groupLeft }: Exited): void {
  if (!command) return;
  Object.assign(command.tree, { pid: groupLeft ? pid : null, ended: true });
  command.exit.resolve({ code, signal, error: null });
}

/** A worker's own end of a pipe nobody writes to yet; reading begins when somebody does. */
function openReadEnd(path: string, fds: number[]): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  fds.push(fd);
  return fd;
}

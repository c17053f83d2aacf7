// Starts commands, by way of a spawner process that kills their trees when this worker is killed.

import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryPause } from '@wfg/shared/rules/pause';
import { createFifoPool, type FifoPool } from './fifo-pool.ts';
import { killTrees } from './kill-tree.ts';
import type { Tree } from './process-table.ts';
import { removeTree } from './remove-tree.ts';
import { type CommandExit, type Log, type RunningCommand, runningCommand } from './running-command.ts';
import { SpawnerError } from './spawn-error.ts';
import { type Exited, MARK } from './spawner/protocol.ts';
import { type Guarded, type SpawnerProcess, startSpawnerProcess } from './spawner-process.ts';

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
  /** The folder for new jobs, which is removed when the worker is gone, killed or not. Throws if it cannot be made. */
  baseDir: () => string;
  /** The process is killed, with all that it started, when the worker is; until disposed of. */
  guard: (guarded: Guarded) => Disposable;
  /** What is started from now on has another process and another folder, in case these are broken. */
  renew: () => void;
  /** For what goes wrong around a command and is not its user's business. */
  log: Log;
}

/** A process that lived as long did not fail to start. */
const LASTING_MS = 10_000;

interface Command {
  tree: Tree;
  exit: PromiseWithResolvers<CommandExit>;
}

/** One spawner process with its folder, and what it started that is not yet released. */
interface Life {
  baseDir: string;
  process: SpawnerProcess;
  fifos: FifoPool;
  commands: Map<number, Command>;
  /** Resolves when it is dead, its trees are too, and its folder is gone. */
  buried: Promise<void>;
}

interface SpawnerSettings {
  log: Log;
  /** A folder in which commands can read no file. */
  hiddenDir?: string | undefined;
}

/** Starts the spawner process at once, so that the first command need not wait for it. */
export function createSpawner({ log, hiddenDir }: SpawnerSettings): Spawner {
  const lives = new Set<Life>();
  /** Known to the current life only: any other ends while the worker lives, and what it knows with it. */
  const guards = new Map<number, Guarded>();
  let current: Life | null = null;
  let isToBeRenewed = false;
  /** Of processes that did not last. */
  let failures = 0;
  let ids = 0;
  const closing = new AbortController();
  const { signal: closed } = closing;

  function connect(): Life {
    if (closed.aborted) throw new SpawnerError('the worker is stopping');
    if (current && !isToBeRenewed && !current.process.isDead()) return current;
    const old = current;
    current = begin();
    isToBeRenewed = false;
    // Not before the new one knows what is guarded.
    for (const id of guards.keys()) old?.process.forget(id);
    if (old?.commands.size === 0) old.process.close();
    return current;
  }

  /** What is guarded needs one that lives, also while nothing is started. */
  async function guardAgain(): Promise<void> {
    await sleep(retryPause(++failures), undefined, { signal: closed }).catch(() => undefined);
    if (closed.aborted || guards.size === 0) return;
    try {
      connect();
    } catch (err) {
      log.warn(
        { err },
        'no spawner can be started: should the worker be killed, its other children would go on',
      );
      await guardAgain();
    }
  }

  function begin(): Life {
    const baseDir = mkdtempSync(join(tmpdir(), 'wfg-worker-'));
    const commands = new Map<number, Command>();
    const process = startSpawnerProcess({
      baseDir,
      hiddenDir,
      onExited: (exited) => noteExit(commands.get(exited.id), exited),
    });
    const fifos = createFifoPool(baseDir, async (paths) => {
      await process.ask({ op: 'fifos', id: ++ids, paths });
    });
    const life = { baseDir, process, fifos, commands, buried: bury(baseDir, process, commands) };
    lives.add(life);
    for (const [id, guarded] of guards) process.guard(id, guarded);
    void life.buried.then(() => lives.delete(life));
    return life;
  }

  async function bury(
    baseDir: string,
    process: SpawnerProcess,
    commands: ReadonlyMap<number, Command>,
  ): Promise<void> {
    const startedAt = performance.now();
    const reason = await process.died;
    if (performance.now() - startedAt > LASTING_MS) failures = 0;
    const isCurrent = process === current?.process;
    if (isCurrent) void guardAgain();
    if ((isCurrent || commands.size > 0) && !closed.aborted)
      log.warn({ reason, commands: commands.size }, 'spawner died, its commands are killed');
    await killTrees(
      Array.from(commands.values(), ({ tree }) => tree),
      { graceMs: 0 },
    );
    const error = `${closed.aborted ? 'the worker stopped' : reason}: the command was killed`;
    for (const { exit } of commands.values()) exit.resolve({ code: null, signal: null, error });
    await removeTree(baseDir).catch((err: unknown) => log.warn({ err, baseDir }, 'folder not removed'));
  }

  /** A process whose time is over ends with the last of its commands. */
  function forget({ commands, process }: Life, id: number): void {
    commands.delete(id);
    if (process !== current?.process && commands.size === 0) process.close();
  }

  async function start({ mark, env, ...spec }: CommandSpec): Promise<RunningCommand> {
    const life = connect();
    const { process, commands, fifos } = life;
    const pipes = { stdout: await fifos.take(), stderr: await fifos.take() };
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
      const release = () => {
        process.forget(id);
        forget(life, id);
      };
      return runningCommand({ tree, exited: exit.promise, stdout, stderr, forget: release, log });
    } catch (err) {
      for (const fd of fds) closeSync(fd);
      for (const path of Object.values(pipes)) rmSync(path, { force: true });
      if (process.isDead()) await life.buried;
      forget(life, id);
      throw err;
    }
  }

  connect();
  return {
    start,
    baseDir: () => connect().baseDir,
    guard(guarded) {
      const id = ++ids;
      guards.set(id, guarded);
      if (current?.process.isDead()) void guardAgain();
      else current?.process.guard(id, guarded);
      return {
        [Symbol.dispose]() {
          guards.delete(id);
          current?.process.forget(id);
        },
      };
    },
    renew() {
      isToBeRenewed = true;
    },
    log,
    async [Symbol.asyncDispose]() {
      closing.abort();
      for (const { process } of lives) process.close();
      await Promise.all(Array.from(lives, ({ buried }) => buried));
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

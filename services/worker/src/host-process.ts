// One handler host process as the worker sees it: a channel, and an end.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { FromHost, ToHost } from './host/protocol.ts';
import { killTrees } from './kill-tree.ts';
import type { Spawner } from './spawner.ts';
import { MARK } from './spawner/protocol.ts';
import { within } from './within.ts';

const PROGRAM = fileURLToPath(new URL('host/main.ts', import.meta.url));
/** For the last messages of a process that has ended. */
const LAST_WORDS_MS = 1_000;

export interface HostProcess {
  /** Undefined when it could not be started. */
  pid: number | undefined;
  send: (message: ToHost) => void;
  kill: () => void;
  /** Resolves with how it ended, when all that it said has been heard and all that it started is gone. */
  ended: Promise<string>;
}

interface HostProcessSettings {
  /** The module's file. */
  file: string;
  instance: string;
  workerId: string;
  /** Kills it, and all that it started, when this worker is killed. */
  spawner: Spawner;
  hear: (message: FromHost) => void;
}

export function startHostProcess(settings: HostProcessSettings): HostProcess {
  const { file, instance, workerId, spawner, hear } = settings;
  const mark = randomUUID();
  const child = spawn(process.execPath, [PROGRAM, file, instance], {
    // Handlers are the operator's own code: what it is configured by is theirs.
    env: { ...process.env, WORKER_ID: workerId, [MARK]: mark },
    // Apart from the worker's group, so that Ctrl-C does not reach it.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { pid } = child;
  const guard = pid === undefined ? null : spawner.guard({ pid, mark });
  const closed = new Promise((resolve) => child.once('disconnect', resolve));
  const gone = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`it cannot be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? `exit code ${code}`}`));
  });

  async function end(): Promise<string> {
    const how = await gone;
    guard?.[Symbol.dispose]();
    await within(closed, LAST_WORDS_MS);
    if (pid !== undefined) await killTrees([{ pid, ended: true, mark }], { graceMs: 0 });
    return how;
  }

  child.on('message', hear);
  return {
    pid,
    // What cannot be sent any more has no one to be sent to: the end follows.
    send: (message) => void child.send(message, () => undefined),
    kill: () => void child.kill('SIGKILL'),
    ended: end(),
  };
}

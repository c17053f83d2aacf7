// Runs one shell of an attempt: the whole of a plain `run`, or one step.

import { type Env, findBadVariable } from './command-env.ts';
import { drainOutput } from './drain-output.ts';
import type { JobOutput } from './job-output.ts';
import type { Patience } from './kill-tree.ts';
import type { CommandExit, RunningCommand } from './running-command.ts';
import type { Spawner } from './spawner.ts';
import type { Stop, Stopper } from './stopper.ts';
import { within } from './within.ts';

/** For the news of a shell's end, after it was killed. */
const NEWS_MS = 2_000;
/** Of what was not started, or could not be killed. */
const NO_EXIT: CommandExit = { code: null, signal: null, error: null };

interface Shell {
  /** Shown in a line above its output. */
  label: string | null;
  /** The arguments of /bin/sh. */
  args: string[];
  env: Env;
  cwd: string;
  timeoutSecs: number | null;
}

/** What the shells of an attempt have in common. */
export interface ShellIo {
  spawner: Spawner;
  mark: string;
  log: JobOutput;
  stopper: Stopper;
  /** With what is to stop. */
  patience: Patience;
  /** Everything started is added here; whoever made the list releases it. */
  started: StartedShell[];
}

interface StartedShell {
  command: RunningCommand;
  /** Resolves when its output is at its end. */
  read: Promise<unknown>;
}

export interface ShellResult {
  outcome: 'completed' | 'failed' | 'timed_out' | 'killed';
  exitCode: number | null;
  signal: string | null;
  /** How it ended; null after exit code 0, or if it was stopped before it began. */
  error: string | null;
}

/**
 * Resolves when the shell has ended and its output been read; background children may still run. Rejects if it cannot
 * be started.
 */
export async function runShell(shell: Shell, io: ShellIo): Promise<ShellResult> {
  const { spawner, mark, log, stopper, started } = io;
  const { label, args, env, cwd, timeoutSecs } = shell;
  if (stopper.reason) return judgeStopped(NO_EXIT, stopper.reason, log.tail());
  if (label !== null) log.writeLine('stdout', `=== ${label.replaceAll(/[\r\n]+/g, ' ')} ===`);
  const bad = findBadVariable(env);
  if (bad !== null) return failed(bad);
  const command = await spawner.start({ file: '/bin/sh', args, cwd, env, mark });
  const read = Promise.all([log.attach('stdout', command.stdout), log.attach('stderr', command.stderr)]);
  started.push({ command, read });
  using limit = stopper.limit(timeoutSecs);
  const stop = await Promise.race([command.exited.then(() => null), limit.stopped.then(() => limit.reason)]);
  if (stop) await kill(command, stop, io);
  const exit = (await within(command.exited, NEWS_MS)) ? await command.exited : NO_EXIT;
  await drainOutput(log.reading, read);
  return stop ? judgeStopped(exit, stop, log.tail()) : judge(exit, log.tail());
}

function judge({ code, signal, error }: CommandExit, tail: string): ShellResult {
  const result = { exitCode: code, signal };
  if (error !== null) return { ...result, outcome: 'failed', error };
  if (signal !== null) return { ...result, outcome: 'failed', error: `signal ${signal}: ${tail}` };
  if (code !== 0) return { ...result, outcome: 'failed', error: `exit code ${code}: ${tail}` };
  return { ...result, outcome: 'completed', error: null };
}

function judgeStopped(exit: CommandExit, { outcome, why }: Stop, tail: string): ShellResult {
  const end = exit === NO_EXIT ? failed(null) : judge(exit, tail);
  return { ...end, outcome, error: outcome === 'timed_out' ? `${why}: ${tail}` : end.error };
}

/** What is done to it is shown in its log, at the time. */
async function kill(command: RunningCommand, { why }: Stop, { log, patience }: ShellIo): Promise<void> {
  const since = performance.now();
  log.writeLine('stderr', `[wfg] ${why}: ${patience.graceMs > 0 ? 'SIGTERM' : 'SIGKILL'} sent`);
  await command.kill({
    ...patience,
    onForce() {
      const secs = Math.round((performance.now() - since) / 1_000);
      log.writeLine('stderr', `[wfg] still running after ${secs} s: SIGKILL sent`);
    },
  });
}

/** Of what was not started. */
export function failed(error: string | null): ShellResult {
  return { outcome: 'failed', exitCode: null, signal: null, error };
}

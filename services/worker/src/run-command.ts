// Executes one attempt of a command job, from its folder to its result.

import { randomUUID } from 'node:crypto';
import type { Step } from '@wfg/shared/contract/command';
import { commandEnv, type Env } from './command-env.ts';
import { drainOutput } from './drain-output.ts';
import { type JobDir, makeJobDir } from './job-dir.ts';
import { createJobOutput, type JobOutput } from './job-output.ts';
import type { Patience } from './kill-tree.ts';
import type { LogChunk } from './log-writer.ts';
import { Secrets } from './masker.ts';
import { OutputCollector, OutputError, type Outputs, parseOutputFile, readOutputFile } from './outputs.ts';
import { failed, runShell, type ShellIo, type ShellResult } from './run-shell.ts';
import { explainSpawnError, isMachineFault } from './spawn-error.ts';
import type { Spawner } from './spawner.ts';
import { Stopper } from './stopper.ts';

export interface CommandJob {
  runId: string;
  attempt: number;
  try: number;
  workflowId: string | null;
  jobId: string;
  /** The workflow's, then the job's, merged. */
  env: Env;
  /** Run as it is, if there are no steps. */
  run: string | null;
  /** Those whose turn it is run one after another, each under `set -e`. */
  steps: Step[] | null;
  timeoutSecs: number | null;
  /** Outputs of the direct dependencies, by job and key. */
  upstream: Record<string, Outputs>;
  /** Names of variables whose values are masked. */
  mask: string[];
}

/** What is the same for all commands of a worker. */
export interface CommandSettings {
  spawner: Spawner;
  workerId: string;
  /** With what is to stop. */
  patience: Patience;
  /** Of an attempt. */
  logMaxBytes: number;
}

export interface CommandIo extends CommandSettings {
  /** Awaited before the next chunk, so that a slow sink slows the command. Never rejects. */
  log: { write: (chunk: LogChunk) => void | Promise<void> };
  /** Kills the command when aborted; the reason's message is shown in its log. */
  signal: AbortSignal;
}

export interface CommandResult extends ShellResult {
  /** Also of a command that did not complete. */
  outputs: Outputs;
}

const COMPLETED: ShellResult = { outcome: 'completed', exitCode: 0, signal: null, error: null };

/**
 * Resolves when the command and all it left in its process group are gone, and all output has been delivered.
 * What goes wrong with the job is its result. Rejects only for a fault of this machine, such as a full disk, by which
 * nothing of the job has run.
 */
export async function runCommand(job: CommandJob, io: CommandIo): Promise<CommandResult> {
  await using dir = await makeJobDir(io.spawner, job.upstream);
  using stopper = new Stopper(job.timeoutSecs);
  stopper.obey(io.signal);
  const outputs = new OutputCollector();
  const secrets = new Secrets();
  const log = createJobOutput({
    write: (chunk) => io.log.write(chunk),
    maxBytes: io.logMaxBytes,
    outputs,
    secrets,
  });
  for (const value of maskedValues(job)) log.mask(value);
  const { spawner, patience } = io;
  const shellIo: ShellIo = { spawner, patience, mark: randomUUID(), log, stopper, started: [] };
  try {
    const result = await runShells(job, io.workerId, dir, shellIo).catch((err: unknown) => {
      // Once something has run it may have been the job that filled the disk or removed its folder.
      if (shellIo.started.length === 0 && isMachineFault(err)) throw err;
      return failed(`cannot start the command: ${explainSpawnError(err)}`);
    });
    await killBackground(shellIo);
    return await withOutputs(result, { collected: outputs, file: dir.outputFile, secrets, log });
  } finally {
    await log.end();
    for (const { command } of shellIo.started) command.release();
  }
}

/** Those of the variables in `mask`, which steps may set anew. */
function maskedValues(job: CommandJob): Set<string> {
  const values = shellsOf(job).flatMap(({ env }) => job.mask.map((name) => env[name] ?? job.env[name] ?? ''));
  return new Set(values);
}

/** The steps whose turn it is, one after another. The first that fails decides, whatever is cleaned up after it. */
async function runShells(job: CommandJob, workerId: string, dir: JobDir, io: ShellIo): Promise<ShellResult> {
  let failure: ShellResult | null = null;
  for (const { flags, run, label, env, timeout, ...turn } of shellsOf(job)) {
    if (!(failure === null ? turn.on_success : turn.on_failure)) continue;
    const jobEnv = { ...job.env, ...env };
    const result = await runShell(
      {
        label,
        args: [...flags, ...(await dir.shellArgs(run))],
        env: commandEnv({ ...job, ...dir, workerId, workerEnv: process.env, jobEnv }),
        cwd: dir.work,
        timeoutSecs: timeout,
      },
      io,
    );
    if (result.outcome === 'completed') continue;
    if (io.stopper.reason !== null) return result;
    failure ??= result;
  }
  return failure ?? COMPLETED;
}

interface ShellText extends Omit<Step, 'label'> {
  flags: string[];
  label: string | null;
}

/** A plain run is the user's own script; of steps it is promised that they stop at the first error. */
function shellsOf({ run, steps }: CommandJob): ShellText[] {
  if (steps && steps.length > 0) return steps.map((step) => ({ ...step, flags: ['-e'] }));
  const turn = { on_success: true, on_failure: false };
  return [{ flags: [], run: run ?? '', label: null, env: {}, timeout: null, ...turn }];
}

/** What is left in a shell's process group ends with the job; a daemon, which left it by `setsid`, always stays. */
async function killBackground({ started, patience, log }: ShellIo): Promise<void> {
  const left = started.filter(({ command }) => command.hasGroup());
  if (left.length === 0) return;
  await Promise.all(left.map(({ command }) => command.killGroup(patience)));
  await drainOutput(log.reading, Promise.all(left.map(({ read }) => read)));
}

interface OutputSources {
  collected: OutputCollector;
  file: string;
  secrets: Secrets;
  log: JobOutput;
}

/** A command that completed has failed all the same if its outputs cannot be used. */
async function withOutputs(result: ShellResult, sources: OutputSources): Promise<CommandResult> {
  const { collected, file, secrets, log } = sources;
  try {
    for (const [key, value] of parseOutputFile(await readOutputFile(file))) collected.set(key, value);
    const outputs = collected.all();
    for (const [key, value] of Object.entries(outputs)) {
      if (!secrets.isIn(value)) continue;
      delete outputs[key];
      log.writeLine('stdout', `[wfg] output ${key} holds a masked value and is not passed on`);
    }
    return { ...result, outputs };
  } catch (err) {
    if (!(err instanceof OutputError)) throw err;
    if (result.outcome !== 'completed') return { ...result, outputs: {} };
    return { ...result, outcome: 'failed', error: err.message, outputs: {} };
  }
}

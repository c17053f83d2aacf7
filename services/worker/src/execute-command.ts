// How a command job is executed, and what its end means for the job.
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandSpec } from '@wfg/shared/contract/command';
import type { ClaimedCommand } from '@wfg/shared/queries/claim';
import { readUpstream, type Upstream } from '@wfg/shared/queries/upstream';
import { messageOf } from '@wfg/shared/rules/message-of';
import { retryPause } from '@wfg/shared/rules/pause';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type End, type Execute, failure, type Stopped } from './attempt.ts';
import type { Fitness } from './fitness.ts';
import { type CommandJob, type CommandResult, type CommandSettings, runCommand } from './run-command.ts';
import { isPassing } from './send-batch.ts';
import { explainSpawnError, isMachineFault } from './spawn-error.ts';

export interface CommandContext {
  pool: pg.Pool;
  fitness: Fitness;
  command: CommandSettings;
  log: Logger;
}

/** Gives the job back, its try uncharged, for what is not its fault and by which nothing of it has run. */
export function executeCommand(job: ClaimedCommand, context: CommandContext): Execute {
  const { pool, fitness, command, log } = context;

  function faultOf(error: unknown): End {
    log.error({ err: error, run_id: job.run_id, job_id: job.job_id }, 'the command could not be begun');
    if (isPassing(error)) return { outcome: 'handed_back', error: `the database: ${messageOf(error)}` };
    if (!isMachineFault(error)) return failure(`wfg: ${messageOf(error)}`);
    fitness.fail(error);
    return { outcome: 'handed_back', error: `cannot start the command: ${explainSpawnError(error)}` };
  }

  /** Waits for a database that refuses it: handed back at once, the job would only be claimed again at once. */
  async function upstreamOf(signal: AbortSignal): Promise<Upstream> {
    for (let failures = 1; ; failures++) {
      try {
        return await readUpstream(pool, job);
      } catch (error) {
        if (!isPassing(error) || signal.aborted) throw error;
        log.warn(
          { err: error, run_id: job.run_id, job_id: job.job_id },
          'what it depends on cannot be read yet',
        );
        await sleep(retryPause(failures), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  return async ({ log: attemptLog, signal }) => {
    try {
      const spec = CommandSpec.parse(job.spec);
      const upstream = job.parents.length > 0 ? await upstreamOf(signal) : {};
      const ended = await runCommand(
        { ...toCommand(job, spec), upstream },
        { ...command, signal, log: attemptLog },
      );
      fitness.prove();
      return { end: endOf(ended, spec.not_on) };
    } catch (error) {
      return { end: faultOf(error) };
    }
  };
}

function toCommand(
  job: ClaimedCommand,
  { run, steps, env, mask }: CommandSpec,
): Omit<CommandJob, 'upstream'> {
  return {
    runId: job.run_id,
    attempt: job.attempt,
    try: job.tries,
    workflowId: job.workflow_id,
    jobId: job.job_id,
    env: { ...job.run_env, ...env },
    run,
    steps,
    timeoutSecs: job.timeout_secs,
    mask,
  };
}

function endOf(
  { outcome, error, exitCode, outputs }: CommandResult,
  notOn: readonly number[],
): End | Stopped {
  if (outcome === 'killed') return { outcome: 'stopped', error, exit_code: exitCode };
  const isFinal = outcome === 'failed' && exitCode !== null && notOn.includes(exitCode);
  return { outcome, retryable: !isFinal, error, exit_code: exitCode, outputs };
}

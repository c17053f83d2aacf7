// One attempt from claim to answer: run the command, store its log, seal it, report the result.
import type { ClaimedJob } from '@wfg/shared/queries/claim';
import type { Result } from '@wfg/shared/queries/finish';
import type { Lease } from '@wfg/shared/queries/leases';
import type { Logger } from 'pino';
import type { Held, StopReason } from './lease-keeper.ts';
import type { LogSink, Seal } from './log-sink.ts';
import type { Reporter } from './reporter.ts';
import { type CommandResult, type CommandSettings, runCommand } from './run-command.ts';

export interface AttemptContext {
  sink: LogSink;
  reporter: Reporter;
  command: CommandSettings;
  log: Logger;
}

export interface Attempt extends Held {
  /** Resolves when the attempt has its answer, or has been given up because its lease is lost. Never rejects. */
  ended: Promise<void>;
}

const NOTHING_LOGGED: Seal = { chunks: 0, lines: 0, bytes: 0 };

/** The result that gives a job back, its try uncharged. */
export function handBack(lease: Lease, seal: Seal = NOTHING_LOGGED): Result {
  return result(lease, seal, { outcome: 'handed_back' });
}

/** Starts a claimed job; `upstream` holds the outputs of its dependencies. */
export function startAttempt(
  job: ClaimedJob,
  upstream: Record<string, Record<string, string>>,
  context: AttemptContext,
): Attempt {
  const lease: Lease = {
    run_id: job.run_id,
    position: job.position,
    attempt: job.attempt,
    nonce: job.nonce,
  };
  const log = context.log.child({ run_id: job.run_id, job_id: job.job_id, attempt: job.attempt });
  const stopping = new AbortController();
  let reason: StopReason | null = null;

  function stop(why: StopReason): void {
    // A lost lease outweighs whatever was asked before: nothing of this attempt counts any more.
    if (reason === null || why === 'lost') reason = why;
    stopping.abort();
  }

  async function run(): Promise<void> {
    const attemptLog = context.sink.open(lease, job.started_at.toISOString().slice(0, 10), () =>
      stop('lost'),
    );
    const io = { ...context.command, signal: stopping.signal, log: attemptLog };
    const ended = await runCommand(toCommand(job, upstream), io).catch(broken);
    const seal = await attemptLog.close();
    if (reason === 'lost') {
      log.warn('lease lost: the command was killed and its result dropped');
      return;
    }
    await report(toResult(lease, seal, ended, reason));
  }

  /** A fault of the worker itself (a full disk, a missing shell) is the attempt's failure, not the worker's end. */
  function broken(error: unknown): CommandResult {
    log.error({ err: error }, 'the command could not be run');
    return { outcome: 'failed', exitCode: null, signal: null, error: `wfg: ${textOf(error)}`, outputs: {} };
  }

  async function report(result: Result): Promise<void> {
    const answer = await context.reporter.report(result).catch((error: unknown) => {
      log.error({ err: error }, 'the database refused the result');
      const text = `the result could not be stored: ${textOf(error)}`;
      return context.reporter.report({ ...result, outcome: 'failed', error: text, outputs: null });
    });
    log.debug({ outcome: result.outcome, answer }, 'reported');
  }

  const ended = run().catch((error: unknown) =>
    log.error({ err: error }, 'no result: the lease will run out'),
  );
  return { lease, stop, ended };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toCommand(job: ClaimedJob, upstream: Record<string, Record<string, string>>) {
  return {
    runId: job.run_id,
    position: job.position,
    attempt: job.attempt,
    try: job.tries,
    workflowId: job.workflow_id,
    jobId: job.job_id,
    env: job.spec.env,
    run: job.spec.run,
    steps: job.spec.steps,
    timeoutSecs: job.timeout_secs,
    upstream,
  };
}

/** What a command's end means for the job, given why it was stopped, if it was. */
function toResult(lease: Lease, seal: Seal, ended: CommandResult, reason: StopReason | null): Result {
  if (ended.outcome === 'killed') {
    return reason === 'shutdown' ? handBack(lease, seal) : result(lease, seal, { outcome: 'cancelled' });
  }
  return result(lease, seal, {
    outcome: ended.outcome,
    retryable: true,
    error: ended.error,
    exit_code: ended.exitCode,
    outputs: ended.outputs,
  });
}

function result(lease: Lease, seal: Seal, told: Partial<Result> & Pick<Result, 'outcome'>): Result {
  return {
    ...lease,
    retryable: false,
    error: null,
    exit_code: null,
    outputs: null,
    log_chunks: seal.chunks,
    log_lines: seal.lines,
    log_bytes: seal.bytes,
    ...told,
  };
}

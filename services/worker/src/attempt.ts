// One attempt from claim to answer: run the command, store its log, seal it, report the result.
import type { ClaimedCommand } from '@wfg/shared/queries/claim';
import type { Result } from '@wfg/shared/queries/finish';
import type { Lease } from '@wfg/shared/queries/leases';
import { readUpstream } from '@wfg/shared/queries/upstream';
import { messageOf } from '@wfg/shared/rules/message-of';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Fitness } from './fitness.ts';
import type { Held, StopReason } from './lease-keeper.ts';
import type { AttemptLog, LogSink, Seal } from './log-sink.ts';
import type { Reporter } from './reporter.ts';
import { type CommandJob, type CommandResult, type CommandSettings, runCommand } from './run-command.ts';
import { isPassing } from './send-batch.ts';
import { explainSpawnError, isMachineFault } from './spawn-error.ts';

interface AttemptContext {
  pool: pg.Pool;
  sink: LogSink;
  reporter: Reporter;
  fitness: Fitness;
  command: CommandSettings;
  log: Logger;
}

export interface Attempt extends Held {
  /** Resolves when the attempt has its answer, or has been given up because its lease is lost. Never rejects. */
  ended: Promise<void>;
}

/** How an attempt ends, before it is known where its log does. */
type End = Pick<Result, 'outcome'> & Partial<Result>;

/** Starts a claimed job. */
export function startAttempt(job: ClaimedCommand, context: AttemptContext): Attempt {
  const { pool, sink, reporter, fitness } = context;
  const { run_id, position, attempt, nonce } = job;
  const lease: Lease = { run_id, position, attempt, nonce };
  const log = context.log.child({ run_id, job_id: job.job_id, attempt });
  const stopping = new AbortController();
  let reason: StopReason | null = null;
  let refusal: string | null = null;

  function stop(why: StopReason): void {
    // A lost lease outweighs whatever was asked before: nothing of this attempt counts any more.
    if (reason === null || why === 'lost') reason = why;
    stopping.abort();
  }

  async function run(): Promise<void> {
    const attemptLog = sink.open(lease, job.started_at.toISOString().slice(0, 10), (why) => {
      if (why === 'lost') return stop('lost');
      log.error({ err: why.refusal }, 'the database refused the log');
      refusal = `its log cannot be stored: ${messageOf(why.refusal)}`;
      return stopping.abort();
    });
    const end = await execute(attemptLog).catch(faultOf);
    const seal = await attemptLog.close();
    if (reason === 'lost') {
      log.warn('lease lost: the command was killed and its result dropped');
      return;
    }
    await report(toResult(lease, seal, refusal === null ? end : failure(refusal)));
  }

  async function execute(attemptLog: AttemptLog): Promise<End> {
    const upstream = job.parents.length > 0 ? await readUpstream(pool, job) : {};
    const io = { ...context.command, signal: stopping.signal, log: attemptLog };
    const ended = await runCommand({ ...toCommand(job), upstream }, io);
    fitness.prove();
    return endOf(ended, reason);
  }

  /** What is not the job's fault gives it back, its try uncharged: nothing of it has run. */
  function faultOf(error: unknown): End {
    log.error({ err: error }, 'the command could not be begun');
    if (isPassing(error)) return { outcome: 'handed_back', error: `the database: ${messageOf(error)}` };
    if (!isMachineFault(error)) return failure(`wfg: ${messageOf(error)}`);
    fitness.fail(error);
    return { outcome: 'handed_back', error: `cannot start the command: ${explainSpawnError(error)}` };
  }

  async function report(result: Result): Promise<void> {
    const answer = await reporter.report(result).catch((error: unknown) => {
      log.error({ err: error }, 'the database refused the result');
      const text = `the result could not be stored: ${messageOf(error)}`;
      return reporter.report({ ...result, outcome: 'failed', error: text, outputs: null });
    });
    log.debug({ outcome: result.outcome, answer }, 'reported');
  }

  const ended = run().catch((error: unknown) =>
    log.error({ err: error }, 'no result: the lease will run out'),
  );
  return { lease, stop, ended };
}

function toCommand(job: ClaimedCommand): Omit<CommandJob, 'upstream'> {
  return {
    runId: job.run_id,
    attempt: job.attempt,
    try: job.tries,
    workflowId: job.workflow_id,
    jobId: job.job_id,
    env: { ...job.run_env, ...job.spec.env },
    run: job.spec.run,
    steps: job.spec.steps?.map((step) => ({ ...step, on_success: true, on_failure: false })) ?? null,
    timeoutSecs: job.timeout_secs,
    mask: [],
  };
}

/** What a command's end means for the job, given why it was stopped, if it was. */
function endOf({ outcome, error, exitCode, outputs }: CommandResult, reason: StopReason | null): End {
  if (outcome === 'killed') return { outcome: reason === 'cancelled' ? 'cancelled' : 'handed_back' };
  return { outcome, retryable: true, error, exit_code: exitCode, outputs };
}

function failure(error: string): End {
  return { outcome: 'failed', retryable: true, error };
}

function toResult(lease: Lease, seal: Seal, end: End): Result {
  return {
    ...lease,
    retryable: false,
    error: null,
    exit_code: null,
    outputs: null,
    log_chunks: seal.chunks,
    log_lines: seal.lines,
    log_bytes: seal.bytes,
    ...end,
  };
}

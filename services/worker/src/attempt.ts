// One attempt from claim to answer: its log is opened, what it is runs, the log is sealed, the result reported.
import type { JobState } from '@wfg/shared/contract/job';
import type { ClaimedJob } from '@wfg/shared/queries/claim';
import type { Result } from '@wfg/shared/queries/finish';
import type { Lease } from '@wfg/shared/queries/leases';
import { messageOf } from '@wfg/shared/rules/message-of';
import type { Logger } from 'pino';
import type { Held } from './lease-keeper.ts';
import type { AttemptLog, LogSink, Seal } from './log-sink.ts';
import type { Reporter } from './reporter.ts';
import { StopError, type StopReason } from './stop-error.ts';

/** Why an attempt was handed back, as its record tells it. */
const SHUTDOWN = 'shutdown: the worker was stopped';

export interface AttemptContext {
  sink: LogSink;
  reporter: Reporter;
  /** Called when what was executed goes on: with what is reported when that has ended, or null if the lease is lost. */
  outlive?: (result: Result | null) => void;
  log: Logger;
}

export interface Attempt extends Held {
  /** Resolves when the attempt has its answer, or has been given up because its lease is lost. Never rejects. */
  ended: Promise<unknown>;
}

/** How an attempt ended, and the state the job was left in; null when its row is in history. */
export interface Ending extends End {
  state: JobState | null;
}

/** How an attempt ends, before it is known where its log does. */
export type End = Pick<Result, 'outcome'> & Partial<Result>;

interface Execution {
  log: AttemptLog;
  /** Aborted when it must stop; its reason says why, in words. */
  signal: AbortSignal;
}

/** It did not end by itself but by the signal; how, as far as that is known. */
export interface Stopped extends Pick<Partial<Result>, 'error' | 'exit_code'> {
  outcome: 'stopped';
}

/** How it ended, and the end of what goes on nevertheless: it was told to stop, and there is no way to stop it. */
export interface Executed {
  end: End | Stopped;
  goesOn?: Promise<unknown> | undefined;
}

/** Runs the job. */
export type Execute = (io: Execution) => Promise<Executed>;

/** Starts a claimed job; `ended` is null when nothing was reported. */
export function startAttempt(
  job: ClaimedJob,
  context: AttemptContext,
  execute: Execute,
): Attempt & { ended: Promise<Ending | null> } {
  const { sink, reporter, outlive } = context;
  const { run_id, position, attempt, nonce } = job;
  const lease: Lease = { run_id, position, attempt, nonce };
  const log = context.log.child({ run_id, job_id: job.job_id, attempt });
  const stopping = new AbortController();
  let reason: StopReason | null = null;
  let refusal: string | null = null;

  function stop(why: StopReason): void {
    // A lost lease outweighs whatever was asked before: nothing of this attempt counts any more.
    if (reason === null || why === 'lost') reason = why;
    stopping.abort(new StopError(why));
  }

  async function run(): Promise<Ending | null> {
    const attemptLog = sink.open(lease, job.started_at.toISOString().slice(0, 10), (why) => {
      if (why === 'lost') return stop('lost');
      log.error({ err: why.refusal }, 'the database refused the log');
      refusal = `its log cannot be stored: ${messageOf(why.refusal)}`;
      return stopping.abort(new Error(refusal));
    });
    const io = { log: attemptLog, signal: stopping.signal };
    const { end, goesOn }: Executed = await execute(io).catch((error: unknown) => {
      log.error({ err: error }, 'the job could not be executed');
      return { end: failure(`wfg: ${messageOf(error)}`) };
    });
    const seal = await attemptLog.close();
    if (goesOn) {
      log.warn('it goes on although it was told to stop: its process is to be ended');
      outlive?.(reason === 'lost' ? null : toResult(lease, seal, endOf(end)));
      await goesOn;
    }
    if (reason === 'lost') {
      log.warn('lease lost: what ran was stopped, and its result dropped');
      return null;
    }
    return report(endOf(end), seal);
  }

  function endOf(executed: End | Stopped): End {
    if (refusal !== null) return failure(refusal);
    if (executed.outcome !== 'stopped') return executed;
    if (reason === 'cancelled') return { ...executed, outcome: 'cancelled' };
    return { ...executed, outcome: 'handed_back', error: SHUTDOWN };
  }

  async function report(end: End, seal: Seal): Promise<Ending> {
    try {
      const { answer, state } = await reporter.report(toResult(lease, seal, end));
      log.debug({ outcome: end.outcome, answer }, 'reported');
      return { ...end, state };
    } catch (error) {
      log.error({ err: error }, 'the database refused the result');
      if (end.outcome === 'failed') throw error;
      return report(failure(`the result could not be stored: ${messageOf(error)}`), seal);
    }
  }

  const ended = run().catch((error: unknown) => {
    log.error({ err: error }, 'no result: the lease will run out');
    return null;
  });
  return { lease, stop, ended };
}

/** Of a try that another may mend. */
export function failure(error: string): End {
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

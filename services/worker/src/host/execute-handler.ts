// How the call of a handler is executed, and what its end means for the job.
import { toStorableText } from '@wfg/shared/contract/json';
import type { LogStream } from '@wfg/shared/contract/log';
import { messageOf } from '@wfg/shared/rules/message-of';
import type { Logger } from 'pino';
import { type End, type Execute, failure } from '../attempt.ts';
import { createLogWriter, type LogWriter } from '../log-writer.ts';
import { after } from '../long-timer.ts';
import { OutputCollector, OutputError } from '../outputs.ts';
import { StopError } from '../stop-error.ts';
import type { Call, HandledJob, Tools } from './call.ts';
import { jobConsole } from './job-console.ts';
import { trace } from './trace.ts';

/** Chunks of up to 64 KiB of an attempt: there may be a hundred attempts. */
const MOST_BACKLOG = 64;
const WHY_MISSING = 'they were printed faster than the database stored them';

interface HandlerSettings {
  /** How long a handler is waited for that was told to stop. */
  killGraceMs: number;
  logMaxBytes: number;
  log: Logger;
}

type Handled = { isOk: true; next: End['next'] } | { isOk: false; thrown: unknown };

/** `id` names the attempt to whoever catches what the handler lets go. */
export function executeHandler(
  id: number,
  call: Call,
  job: HandledJob,
  { killGraceMs, logMaxBytes, log }: HandlerSettings,
): Execute {
  return async ({ log: attemptLog, signal: asked }) => {
    if (asked.aborted) return { outcome: 'stopped' };
    const { timeoutSecs } = call;
    const overtime = new StopError('timeout', `timeout after ${timeoutSecs}s`);
    using limit = abortAfter(timeoutSecs, overtime);
    const signal = AbortSignal.any([asked, limit.signal]);

    const writer = createLogWriter({ write: (chunk) => attemptLog.write(chunk), maxBytes: logMaxBytes });
    const print = boundedPrint(writer);
    const outputs = new OutputCollector();
    // What a handler does that nobody waits for any more goes nowhere.
    let isOpen = true;
    const output = jobConsole((stream, text) => isOpen && print(stream, text));
    signal.addEventListener('abort', () => {
      if (isOpen)
        writer.writeLine('stderr', `[wfg] ${messageOf(signal.reason)}: the handler was told to stop`);
    });
    const setOutput = (name: string, value: string) => isOpen && addOutput(outputs, name, value);

    const tools: Tools = { log: output, signal, setOutput };
    const handled = await untilGivenUp(signal, killGraceMs, (blame) =>
      trace({ id, blame }, async () => (await call.run(tools)).next),
    );
    // What comes while the rest of the log is stored is too late to stop it.
    const isStopped = signal.aborted;
    const isOvertime = signal.reason === overtime;
    if (!isStopped && handled?.isOk === false) printStack(output, handled.thrown);
    isOpen = false;
    await writer.end();

    if (handled === null)
      log.warn({ job_id: job.job_id, run_id: job.run_id }, 'a handler goes on although it was told to stop');
    if (isOvertime) return { outcome: 'timed_out', retryable: true, error: overtime.message };
    return isStopped || handled === null ? { outcome: 'stopped' } : endOf(call, handled, outputs);
  };
}

/** A handler prints without waiting, so what the database does not take for long is left out, and that said. */
function boundedPrint(writer: LogWriter): (stream: LogStream, text: string) => void {
  let missing = 0;
  return (stream, text) => {
    if (writer.backlog() >= MOST_BACKLOG) missing += text.length;
    else {
      if (missing > 0)
        writer.writeLine('stderr', `[wfg] ${missing} characters are missing here: ${WHY_MISSING}`);
      missing = 0;
      writer.write(stream, text);
    }
  };
}

function abortAfter(secs: number | null, reason: StopError): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const timer = secs === null ? null : after(secs * 1_000, () => controller.abort(reason));
  return { signal: controller.signal, [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}

/** How it ended: by itself or by blame; null when it goes on `graceMs` after the signal. */
async function untilGivenUp(
  signal: AbortSignal,
  graceMs: number,
  handle: (blame: (thrown: unknown) => void) => Promise<End['next']>,
): Promise<Handled | null> {
  const { promise, resolve } = Promise.withResolvers<Handled | null>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => (timer = setTimeout(resolve, graceMs, null));
  signal.addEventListener('abort', onAbort);
  const blame = (thrown: unknown) => resolve({ isOk: false, thrown });
  handle(blame).then((next) => resolve({ isOk: true, next }), blame);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Handlers may be JavaScript. */
function addOutput(outputs: OutputCollector, name: unknown, value: unknown): void {
  if (typeof name !== 'string' || name === '') throw new TypeError('an output needs a name');
  if (typeof value !== 'string')
    throw new TypeError(`output ${name} must be a string: use JSON.stringify for anything else`);
  outputs.set(toStorableText(name), toStorableText(value));
}

function printStack(output: Console, thrown: unknown): void {
  try {
    output.error(thrown);
  } catch {
    // An object that cannot even be shown: its job has the error's text.
  }
}

function endOf(call: Call, handled: Handled, outputs: OutputCollector): End {
  if (!handled.isOk) return call.endOf(handled.thrown);
  try {
    return { outcome: 'completed', outputs: outputs.all(), next: handled.next };
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    return failure(error.message);
  }
}

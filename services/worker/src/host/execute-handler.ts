// How the call of a handler is executed, and what its end means for the job.
import { toStorableText } from '@wfg/shared/contract/json';
import { messageOf } from '@wfg/shared/rules/message-of';
import { type End, type Execute, failure } from '../attempt.ts';
import type { Patience } from '../kill-tree.ts';
import { createLogWriter, type LogChunk, type LogRoom } from '../log-writer.ts';
import { after } from '../long-timer.ts';
import { OutputCollector, OutputError } from '../outputs.ts';
import { StopError } from '../stop-error.ts';
import type { Call } from './call.ts';
import { jobConsole } from './job-console.ts';
import { trace } from './trace.ts';

const STOPPED = { outcome: 'stopped' } as const;

interface HandlerSettings {
  /** With a handler that was told to stop. */
  patience: Patience;
  /** Of an attempt. */
  logMaxBytes: number;
  /** Handlers print without waiting: no more of all of them may wait for the database. */
  logRoom: LogRoom;
}

type Handled = { isOk: true; next: End['next'] } | { isOk: false; thrown: unknown };

/** `id` names the attempt to whoever catches what the handler lets go. */
export function executeHandler(
  id: number,
  call: Call,
  { patience, logMaxBytes, logRoom }: HandlerSettings,
): Execute {
  return async ({ log: attemptLog, signal: asked }) => {
    if (asked.aborted) return { end: STOPPED };
    const { timeoutSecs } = call;
    const overtime = new StopError('timeout', `timeout after ${timeoutSecs}s`);
    using limit = abortAfter(timeoutSecs, overtime);
    const signal = AbortSignal.any([asked, limit.signal]);

    const write = (chunk: LogChunk) => attemptLog.write(chunk);
    const writer = createLogWriter({ write, maxBytes: logMaxBytes, room: logRoom });
    const outputs = new OutputCollector();
    // What a handler does that nobody waits for any more goes nowhere.
    let isOpen = true;
    const output = jobConsole((stream, text) => isOpen && writer.write(stream, text));
    const setOutput = (name: string, value: string) => isOpen && addOutput(outputs, name, value);
    const say = (line: string) => writer.writeLine('stderr', `[wfg] ${line}`);
    signal.addEventListener(
      'abort',
      () => isOpen && say(`${messageOf(signal.reason)}: the handler was told to stop`),
    );

    const ended = traced(id, () => call.run({ log: output, signal, setOutput }));
    const handled = await untilGivenUp(signal, patience, ended);
    // What comes while the rest of the log is stored is too late to stop it.
    const isStopped = signal.aborted;
    const isOvertime = signal.reason === overtime;
    if (!isStopped && handled?.isOk === false) printStack(output, handled.thrown);
    if (handled === null) say('the handler goes on: it ends with its process');
    isOpen = false;
    await writer.end();

    const goesOn = handled === null ? ended : undefined;
    if (isOvertime)
      return { end: { outcome: 'timed_out', retryable: true, error: overtime.message }, goesOn };
    return { end: isStopped || handled === null ? STOPPED : endOf(call, handled, outputs), goesOn };
  };
}

function abortAfter(secs: number | null, reason: StopError): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const timer = secs === null ? null : after(secs * 1_000, () => controller.abort(reason));
  return { signal: controller.signal, [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}

/** Resolves when it has ended, by itself or by blame. */
function traced(id: number, run: () => Promise<Pick<End, 'next'>>): Promise<Handled> {
  const { promise, resolve } = Promise.withResolvers<Handled>();
  const blame = (thrown: unknown) => resolve({ isOk: false, thrown });
  trace({ id, blame }, async () => run()).then(({ next }) => resolve({ isOk: true, next }), blame);
  return promise;
}

/** How it ended; null when it goes on although the grace after the signal is over. */
async function untilGivenUp(
  signal: AbortSignal,
  { graceMs, hurry }: Patience,
  ended: Promise<Handled>,
): Promise<Handled | null> {
  const over = Promise.withResolvers<null>();
  const giveUp = () => over.resolve(null);
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(giveUp, hurry?.aborted ? 0 : graceMs);
    hurry?.addEventListener('abort', giveUp);
  };
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([ended, over.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    hurry?.removeEventListener('abort', giveUp);
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

// Why an attempt, or one of its steps, is ended before its command ends by itself: the first reason counts.

import { messageOf } from '@wfg/shared/rules/message-of';
import { after } from './long-timer.ts';

export interface Stop {
  outcome: 'timed_out' | 'killed';
  /** In words. */
  why: string;
}

export class Stopper implements Disposable {
  /** Null until it stops. */
  reason: Stop | null = null;
  readonly #stopped = Promise.withResolvers<void>();
  readonly #parts: Stopper[] = [];
  readonly #stack = new DisposableStack();

  /** Stops by itself when the time is over, unless disposed of before; null is no limit. */
  constructor(secs: number | null) {
    if (secs === null) return;
    const reason: Stop = { outcome: 'timed_out', why: `timeout after ${secs}s` };
    this.#stack.use(after(secs * 1_000, () => this.stop(reason)));
  }

  /** Resolves when there is a reason. */
  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  stop(reason: Stop): void {
    if (this.reason !== null) return;
    this.reason = reason;
    this.#stopped.resolve();
    for (const part of this.#parts) part.stop(reason);
  }

  /** Stops when the signal is aborted, whose reason is shown in the log. */
  obey(signal: AbortSignal): void {
    const onAbort = () => this.stop({ outcome: 'killed', why: messageOf(signal.reason) });
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort);
    this.#stack.defer(() => signal.removeEventListener('abort', onAbort));
  }

  /** For a part of the work: stops with this one, or when its own time is over. */
  limit(secs: number | null): Stopper {
    const part = new Stopper(secs);
    if (this.reason !== null) part.stop(this.reason);
    this.#parts.push(part);
    return part;
  }

  [Symbol.dispose](): void {
    this.#stack.dispose();
  }
}

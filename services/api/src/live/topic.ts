// What every subscription is: a loop that reads rows from its own place and sends what is new.
import type { Bell } from '@wfg/shared/contract/bell';
import type { ServerFrame } from '@wfg/shared/contract/live';
import type pg from 'pg';

/** What a subscription may use. */
export interface TopicContext {
  pool: pg.Pool;
  /** Sends a frame as soon as the socket has room for it; drops it when the subscription is over by then. */
  send: (frame: ServerFrame) => Promise<void>;
  /** How long to sleep before reading unasked, in milliseconds. */
  pollMs: () => number;
}

export interface Topic {
  /** Whether this bell may be about what the topic reads. */
  concerns: (bell: Bell) => boolean;
  /**
   * Reads one bounded piece and sends what is new; returns how long to sleep, in milliseconds, or null when nothing can
   * follow. The socket's other subscriptions wait meanwhile.
   */
  step: () => Promise<number | null>;
  /** Milliseconds to leave after the last step whatever is rung. */
  restMs: () => number;
}

/** The subscription cannot be served; told to the client, and ended. */
export class TopicError extends Error {
  override name = 'TopicError';
  readonly code: string;

  constructor(code: string, detail: string) {
    super(detail);
    this.code = code;
  }
}

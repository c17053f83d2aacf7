// What every subscription is: a loop that reads rows from its own place and sends what is new.
import type { Bell } from '@wfg/shared/contract/bell';
import type { ServerFrame } from '@wfg/shared/contract/live';
import type pg from 'pg';

/** What a subscription may use. */
export interface TopicContext {
  pool: pg.Pool;
  /** Sends a frame; resolves when the socket has room for the next. */
  send: (frame: ServerFrame) => Promise<void>;
  /** How long to sleep before reading unasked, in milliseconds. */
  pollMs: () => number;
}

export interface Topic {
  /** Whether this bell may be about what the topic reads. */
  concerns: (bell: Bell) => boolean;
  /** Reads once and sends what is new; returns how long to sleep, or null when nothing can follow. */
  step: () => Promise<number | null>;
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

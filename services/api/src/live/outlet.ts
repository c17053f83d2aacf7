// Where the frames of one subscription go: to a socket, or into a stream of events.
import type { Form, SharedFrame } from './shared-frame.ts';

/** Bytes that may wait to be written when another frame comes: who has more waiting falls behind. */
export const MAX_BUFFERED = 1024 * 1024;
/** Who fell behind reads on by himself, and only when no more than this waits: what he reads is held for him alone. */
export const LOW_BUFFERED = 128 * 1024;

export interface Outlet {
  form: Form;
  /** Whether so much waits that no more should be sent for now. */
  isFull: () => boolean;
  /** Resolves when little waits, or nothing is taken any more. */
  room: () => Promise<void>;
  send: (frame: SharedFrame) => void;
  /** The subscriptions of one viewer take turns at whatever is held for him alone. */
  inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Tells that it cannot be served, and ends it. */
  refuse: (code: string, detail: string) => void;
}

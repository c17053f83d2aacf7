// A frame for many viewers: encoded once for all who are sent it in the same form.
import type { ServerFrame } from '@wfg/shared/contract/live';

/** So many forms are kept of one frame: clients name their subscriptions alike. */
const MOST_KEPT = 4;

/** What is sent of a topic, before the name that a viewer gave his subscription. */
export type Frame = ServerFrame extends infer F
  ? F extends { op: 'pong' | 'error' }
    ? never
    : F extends ServerFrame
      ? Omit<F, 'id'>
      : never
  : never;

/** How a viewer is sent frames. */
export interface Form {
  /** Equal for viewers who are sent the same bytes. */
  key: string;
  encode: (frame: SharedFrame) => Buffer;
}

export class SharedFrame {
  readonly frame: Frame;
  readonly #encoded = new Map<string, Buffer>();
  #json: string | undefined;

  constructor(frame: Frame) {
    this.frame = frame;
  }

  /** Of what is kept of it. */
  get bytes(): number {
    return [...this.#encoded.values()].reduce(
      (sum, { length }) => sum + length,
      2 * (this.#json?.length ?? 0),
    );
  }

  /** The frame as JSON. */
  get json(): string {
    return (this.#json ??= JSON.stringify(this.frame));
  }

  as(form: Form): Buffer {
    const known = this.#encoded.get(form.key);
    if (known) return known;
    const encoded = form.encode(this);
    if (this.#encoded.size < MOST_KEPT) this.#encoded.set(form.key, encoded);
    return encoded;
  }
}

/** As a socket's client is sent it: with the name of his subscription. */
export function socketForm(id: string): Form {
  const key = JSON.stringify(id);
  return { key, encode: ({ json }) => Buffer.from(`{"id":${key},${json.slice(1)}`) };
}

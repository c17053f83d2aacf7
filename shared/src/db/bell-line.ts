// One connection that listens, from connecting to its loss. Wraps pg-listen, which hides its connection:
// the socket is ours, so that a connection that went silent can be dropped.

import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import createSubscriber from 'pg-listen';
import { BELL_CHANNEL, TASK_CHANNEL } from '../contract/bell.ts';

/** Connecting, LISTEN and a ring of its own may each take this long. */
const TIMEOUT_MS = 5_000;

const CHANNELS = [BELL_CHANNEL, TASK_CHANNEL] as const;

export class BellLine implements Disposable {
  readonly #socket = new Socket();
  readonly #over = new AbortController();
  readonly #subscriber;

  /** `hear` gets each payload as text. */
  constructor(url: string, name: string, hear: (payload: string | undefined) => void) {
    this.#subscriber = createSubscriber.default<{ [BELL_CHANNEL]: string; [TASK_CHANNEL]: string }>(
      {
        connectionString: url,
        application_name: name,
        connectionTimeoutMillis: TIMEOUT_MS,
        query_timeout: TIMEOUT_MS,
        stream: () => this.#socket,
      },
      {
        // A limit of 1 means no reconnect: pg-listen's own stays deaf for good if a connection is lost again
        // before its LISTEN is answered, and close() does not end its retries. Whoever uses a line makes the next.
        retryLimit: 1,
        paranoidChecking: false,
        // An error thrown by `parse` would look like a lost connection.
        parse: (text) => text,
        serialize: (text: string) => text,
      },
    );
    this.#subscriber.events.on('error', () => this.#over.abort(new Error('listening connection lost')));
    for (const channel of CHANNELS) this.#subscriber.notifications.on(channel, hear);
  }

  /** Connects and listens; rejects if that fails or takes too long. */
  async open(): Promise<void> {
    // A connect() under way is never answered by pg once the connection is being closed.
    const late = this.wait(2 * TIMEOUT_MS).then(() => {
      throw new Error('connecting took too long');
    });
    await Promise.race([this.#listen(), late]);
  }

  async #listen(): Promise<void> {
    await this.#subscriber.connect();
    for (const channel of CHANNELS) await this.#subscriber.listenTo(channel);
  }

  /** Rings on this very connection; if that fails, the line is over. */
  ring(payload: string): void {
    this.#subscriber.notify(BELL_CHANNEL, payload).catch((err) => this.#over.abort(err));
  }

  /** Waits, in milliseconds; rejects as soon as the line is over, with the reason. */
  async wait(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#over.signal }).catch(() => undefined);
    this.#over.signal.throwIfAborted();
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    void this.#subscriber.close();
    this.#socket.destroy();
  }
}

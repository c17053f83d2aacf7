// Follows a stream of events to its `end`, across broken connections.
import { setTimeout as sleep } from 'node:timers/promises';
import { retryPause } from '../rules/pause.ts';
import { WfgApiError } from './errors.ts';
import { readEvents, type SentEvent } from './read-events.ts';

export interface Followed {
  /**
   * Opens the stream behind the event with this id, or where it begins. `signal` cuts the connection.
   *
   * @throws {UnreachableError | WfgApiError} when it cannot.
   */
  open: (last: string | null, signal: AbortSignal) => Promise<Response>;
  /** Gives up: it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Who is silent for longer than this is taken for dead, in milliseconds: the server sends something every 15 s. */
  silenceMs?: number;
  /** So long it is tried to reach the server again, in milliseconds: a restart, also of its database. */
  awayMs?: number;
}

/** Every event once, up to and with `end`. A server that is not there at the beginning is not waited for. */
export async function* followEvents({
  open,
  signal,
  silenceMs = 45_000,
  awayMs = 300_000,
}: Followed): AsyncGenerator<SentEvent> {
  let last: string | null = null;
  let failures = 0;
  // A server that was never reached is not waited for.
  let awaySince: number | null = Number.NEGATIVE_INFINITY;
  for (;;) {
    const dead = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const heard = () => {
      awaySince = null;
      timer?.refresh();
    };
    const listen = () => (timer = setTimeout(() => dead.abort(), silenceMs));
    try {
      const { body } = await open(last, signal ? AbortSignal.any([signal, dead.signal]) : dead.signal);
      listen();
      heard();
      for await (const event of readEvents(body ?? new ReadableStream(), heard)) {
        failures = 0;
        last = event.id ?? last;
        // Nothing is read while whoever takes the events is busy with one.
        clearTimeout(timer);
        yield event;
        listen();
        if (event.event === 'end') return;
      }
    } catch (err) {
      signal?.throwIfAborted();
      awaySince ??= performance.now();
      if (!mayPass(err) || performance.now() - awaySince > awayMs) throw err;
    } finally {
      clearTimeout(timer);
    }
    failures += 1;
    await sleep(retryPause(failures), undefined, { signal });
  }
}

/** What breaks while it is read has no class of its own. */
function mayPass(err: unknown): boolean {
  return err instanceof WfgApiError ? err.status >= 500 : !(err instanceof RangeError);
}

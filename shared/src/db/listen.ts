// Hears the bell: one listening connection per process, kept up for as long as the process lives.

import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Bell, parseBell } from '../contract/bell.ts';
import { jitter, retryPause } from '../rules/pause.ts';
import { deaf, deafenings, heardBells, ownBeats, resyncs } from './bell-counters.ts';
import { BellLine } from './bell-line.ts';

interface ListenSettings {
  /** A direct connection (DATABASE_DIRECT_URL): LISTEN does not pass a transaction pooler. */
  url: string;
  /** Shown in pg_stat_activity as `wfg-<name>-listen`. */
  name: string;
  log: Logger;
  onBell: (bell: Bell) => void;
  /** Somebody sent stop_worker, to one worker or (null) to all. */
  onStop?: (workerId: string | null) => void;
  /** Bells may have been missed, or are being missed: read from your cursors again. Also at each connect. */
  onResync: () => void;
  timing?: Timing;
}

export interface Timing {
  /** After this long without a bell the process rings one itself. */
  quietMs: number;
  /** It is deaf if it does not hear that within this time. */
  answerMs: number;
}

export interface Listening extends AsyncDisposable {
  /** Why bells do not arrive at the moment, for /ready; null while they do. */
  deafReason: () => string | null;
  /** How long to sleep before looking unasked: up to 1 s while deaf, up to 10 s while hearing. */
  pollMs: () => number;
}

const TIMING: Timing = { quietMs: 7_000, answerMs: 2_000 };
const HEARING_POLL_MS = 10_000;
const DEAF_POLL_MS = 1_000;
const BEAT = JSON.stringify({ v: 1, beat: true } satisfies Bell);

/**
 * Listens from now on and never fails: while PostgreSQL is away it tries again and again, at most 5 s apart.
 * Deaf from the start until the first bell, which it rings itself as soon as it is connected.
 */
export function listen({
  url,
  name,
  log,
  onBell,
  onStop,
  onResync,
  timing = TIMING,
}: ListenSettings): Listening {
  const stopping = new AbortController();
  let hangUp: (() => void) | undefined;
  let heardAt = performance.now();
  let deafSince: number | null = heardAt;
  deaf.set(1);

  function hear(payload: string | undefined): void {
    heardAt = performance.now();
    if (deafSince !== null) log.info({ deaf_ms: Math.round(heardAt - deafSince) }, 'hearing bells');
    deafSince = null;
    deaf.set(0);
    const heard = parseBell(payload);
    for (const about of 'bell' in heard ? subjectsOf(heard.bell) : ['stop']) heardBells.inc({ about });
    tell(() => ('bell' in heard ? onBell(heard.bell) : onStop?.(heard.stop.workerId)));
  }

  /** Callbacks run inside socket events, where an error of theirs would end the process. */
  function tell(callback: () => void): void {
    try {
      callback();
    } catch (err) {
      log.error({ err }, 'bell handler failed');
    }
  }

  function resync(): void {
    resyncs.inc();
    tell(onResync);
  }

  const silence = () => performance.now() - heardAt;

  /** One connection: rejects when it is lost, closed or found deaf. */
  async function hold(): Promise<never> {
    using line = new BellLine(url, `wfg-${name}-listen`, hear);
    hangUp = () => line[Symbol.dispose]();
    await line.open();
    resync();
    for (;;) {
      const rungAt = performance.now();
      line.ring(BEAT);
      ownBeats.inc();
      await line.wait(timing.answerMs);
      // What arrived while this process itself was stalled is read from the socket first.
      await setImmediate();
      if (heardAt < rungAt) throw new Error(`own bell not heard within ${timing.answerMs} ms`);
      const quietMs = jitter(timing.quietMs);
      while (silence() < quietMs) await line.wait(quietMs - silence());
    }
  }

  async function keepListening(): Promise<void> {
    for (let failures = 1; !stopping.signal.aborted; failures++) {
      const err = await hold().catch((err: unknown) => err);
      if (stopping.signal.aborted) return;
      if (deafSince === null) {
        failures = 1;
        deafSince = performance.now();
        deafenings.inc();
        deaf.set(1);
        resync();
      }
      log[failures === 1 ? 'warn' : 'debug']({ err }, 'not listening');
      await sleep(retryPause(failures), undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const ended = keepListening();
  return {
    deafReason: () =>
      deafSince === null ? null : `listen: deaf for ${Math.floor((performance.now() - deafSince) / 1_000)} s`,
    pollMs: () => jitter(deafSince === null ? HEARING_POLL_MS : DEAF_POLL_MS),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      hangUp?.();
      await ended;
    },
  };
}

/** What a bell is about: all of its fields but those that say how. */
function subjectsOf(bell: Bell): string[] {
  return Object.keys(bell).filter((field) => !['v', 'requires', 'nonce'].includes(field));
}

// Rings the bell for this process. A commit with a NOTIFY in it holds a lock of the whole database through
// its flush, so hot transactions do not notify: their hints are merged here and rung in one of their own.

import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { BELL_CHANNEL, type Hint } from '../contract/bell.ts';
import { BellBuffer } from './bell-buffer.ts';

/** Hints within this time of the last ring are merged into the next. */
const WINDOW_MS = 5;

export interface Doorbell extends AsyncDisposable {
  /** Call after the commit. The first hint after a silence is rung at once; never throws, never waits. */
  ring: (hint: Hint) => void;
  /** Resolves when what was rung so far has been sent, or has failed. */
  flush: () => Promise<void>;
}

export function createDoorbell(pool: pg.Pool, log: Logger): Doorbell {
  const buffer = new BellBuffer();
  let ringing: Promise<void> | undefined;
  let closed = false;

  async function send(): Promise<void> {
    try {
      await pool.query('select pg_notify($1, $2)', [BELL_CHANNEL, buffer.take()]);
    } catch (err) {
      // A bell is a hint: whoever missed it looks by itself, later but bounded.
      log.debug({ err }, 'bell not rung');
    }
  }

  async function ringAll(): Promise<void> {
    while (!buffer.empty) await Promise.all([send(), sleep(WINDOW_MS)]);
    ringing = undefined;
  }

  async function flush(): Promise<void> {
    await ringing;
  }

  return {
    ring(hint) {
      if (closed) return;
      buffer.add(hint);
      ringing ??= ringAll();
    },
    flush,
    async [Symbol.asyncDispose]() {
      closed = true;
      await flush();
    },
  };
}

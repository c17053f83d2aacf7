// Rings the bell for this process. A commit with a NOTIFY in it holds a lock of the whole database through
// its flush, so hot transactions do not notify: their hints are merged here and rung in one of their own.
//
// A lane is rung with what it requires, so that whoever cannot take its jobs need not ask, and few of those look who can
// (rules/chosen.ts). They may all be busy; so a moment later it is read whether what was rung for is still there, and if
// so it is rung once more, for others. What is there even then is the sentinel's.

import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { BELL_CHANNEL, type Hint } from '../contract/bell.ts';
import { lanesRungAgain, rungBells } from './bell-counters.ts';
import { BellBuffer } from './bell-buffer.ts';
import { readLanes } from './lanes.ts';

/** Hints within this time of the last ring are merged into the next. */
const WINDOW_MS = 5;
/** From ringing for a lane to reading what became of it. */
const AGAIN_MS = 100;
/** So many lanes are remembered, and read at once. */
const MOST_LANES = 10_000;

export interface Doorbell extends AsyncDisposable {
  /** Call after the commit. The first hint after a silence is rung at once; never throws, never waits. */
  ring: (hint: Hint) => void;
  /** Resolves when what was rung so far has been sent, or has failed. */
  flush: () => Promise<void>;
}

/** One for each process. Disposal rings what is pending, and ignores what comes later. */
export function createDoorbell(pool: pg.Pool, log: Logger): Doorbell {
  const closing = new AbortController();
  const requires = new Map<string, readonly string[]>();
  /** Rung, and not yet read again. */
  const rung = new Set<string>();
  let buffer = new BellBuffer();
  let ringing: Promise<void> | undefined;
  let reading: Promise<void> | undefined;

  async function send(): Promise<void> {
    const full = buffer;
    buffer = new BellBuffer();
    // A bell is a hint: whoever missed it looks by itself, later but bounded.
    await describe(full).catch((err: unknown) => log.debug({ err }, 'lanes not read: everyone will look'));
    if (full.isVain) return;
    if (!full.everyone) full.lanes.slice(0, MOST_LANES - rung.size).forEach((lane) => rung.add(lane));
    if (rung.size > 0) reading ??= ringAgain();
    await notify(full).catch((err: unknown) => log.debug({ err }, 'bell not rung'));
  }

  async function notify(bell: BellBuffer): Promise<void> {
    await pool.query('select pg_notify($1, $2)', [BELL_CHANNEL, bell.take()]);
    rungBells.inc();
  }

  /** Adds what the lanes require. Those in which nothing waits any more need no bell. */
  async function describe(bell: BellBuffer): Promise<void> {
    const unknown = bell.unknownLanes.filter((lane) => !requires.has(lane));
    if (unknown.length > 0) {
      const found = await readLanes(pool, unknown);
      if (requires.size + found.length > MOST_LANES) requires.clear();
      for (const { lane, required_labels } of found) requires.set(lane, required_labels);
      for (const lane of unknown) if (!requires.has(lane)) bell.dropLane(lane);
    }
    for (const lane of bell.unknownLanes) {
      const labels = requires.get(lane);
      if (labels) bell.require(lane, labels);
    }
  }

  async function ringAll(): Promise<void> {
    while (!buffer.empty) await Promise.all([send(), sleep(WINDOW_MS)]);
    ringing = undefined;
  }

  /** One read at a time, of all that was rung meanwhile. */
  async function ringAgain(): Promise<void> {
    while (rung.size > 0 && !closing.signal.aborted) {
      await sleep(AGAIN_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      if (closing.signal.aborted) break;
      const lanes = [...rung];
      rung.clear();
      await ringForLate(lanes).catch((err: unknown) => log.debug({ err }, 'bell not rung again'));
    }
    reading = undefined;
  }

  async function ringForLate(lanes: readonly string[]): Promise<void> {
    const late = (await readLanes(pool, lanes)).filter((found) => found.late > 0);
    if (late.length === 0) return;
    const again = new BellBuffer();
    for (const { lane, required_labels, late: count } of late)
      again.add({ lanes: { [lane]: count }, requires: { [lane]: required_labels } });
    lanesRungAgain.inc(late.length);
    await notify(again);
  }

  async function flush(): Promise<void> {
    await ringing;
  }

  return {
    ring(hint) {
      if (closing.signal.aborted) return;
      buffer.add(hint);
      ringing ??= ringAll();
    },
    flush,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await flush();
      await reading;
    },
  };
}

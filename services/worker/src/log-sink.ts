// Stores the output of all running attempts: one statement at a time for all of them, so each attempt has at most one
// batch in flight and readers see a prefix. While the database is slow or away, `write` waits, which in the end
// stops the command at its pipe: nothing is dropped.
import { jobKey } from '@wfg/shared/contract/job-key';
import type { LogStream } from '@wfg/shared/contract/log';
import type { Doorbell } from '@wfg/shared/db/doorbell';
import type { Lease } from '@wfg/shared/queries/leases';
import { type LogRow, appendLogs } from '@wfg/shared/queries/logs';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { startLoop } from '@wfg/shared/runtime/loop';
import { Watched } from '@wfg/shared/runtime/watched';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Delivery, sendBatch } from './send-batch.ts';

/** Characters that wait for the database before an attempt's `write` does; the bound on memory for each attempt. */
const SPOOL_CHARS = 2 * 1024 * 1024;
/** The same of all attempts together: beyond it each keeps no more than a chunk waiting. */
const ALL_SPOOL_CHARS = 32 * 1024 * 1024;
const CHUNK_CHARS = 64 * 1024;
/** Characters in one statement. */
const BATCH_CHARS = 4 * 1024 * 1024;
/** Of an attempt: while these are stored, as many more can be read. */
const SHARE_CHARS = SPOOL_CHARS / 2;
const IDLE_MS = 60_000;

/** A chunk as it is cut, before it has a number; totals count the attempt up to its end. */
export interface Chunk {
  stream: LogStream;
  line: number;
  lines: number;
  bytes: number;
  at: Date;
  data: string;
}

/** What an attempt's log comes to: written with the result, so that readers know where it ends. */
export interface Seal {
  chunks: number;
  lines: number;
  bytes: number;
}

export interface AttemptLog {
  /** Takes a chunk; resolves when there is room for the next. After the log was dropped it ignores what it is given. */
  write: (chunk: Chunk) => Promise<void>;
  /** Resolves when everything written is stored, or the log is dropped, with what is stored of it. */
  close: () => Promise<Seal>;
}

/** Why no more of a log is stored: the lease is lost, or this is what the database says to a chunk of it. */
export type Dropped = 'lost' | { refusal: unknown };

export interface LogSink extends AsyncDisposable {
  /** `day` is the day the attempt started. `onDropped` is called at most once, and before `close` resolves. */
  open: (lease: Lease, day: string, onDropped: (why: Dropped) => void) => AttemptLog;
  /** Somebody follows the logs of these jobs: what is new in them is rung for a while, and what has not been, at once. */
  watch: (jobKeys: readonly string[]) => void;
  /** Why logs cannot be stored, for /ready; null if they can. */
  problem: () => string | null;
}

interface OpenLog {
  lease: Lease;
  /** Of its job. */
  key: string;
  day: string;
  onDropped: (why: Dropped) => void;
  waiting: LogRow[];
  /** In `waiting`. */
  chars: number;
  stored: Seal;
  isDropped: boolean;
  /** Something was stored that was not rung, since nobody followed it. */
  isUntold: boolean;
  /** Called after each batch. */
  progress: PromiseWithResolvers<void>;
}

interface Batch {
  of: OpenLog;
  rows: LogRow[];
}

/** One sink serves a whole worker. */
export function createLogSink(pool: pg.Pool, doorbell: Doorbell, log: Logger): LogSink {
  const logs = new Set<OpenLog>();
  const watched = new Watched();
  /** That wait in all of them. */
  let chars = 0;
  const loop = startLoop({ name: 'logs', log, step: storeBatch });
  const delivery: Delivery<Batch, boolean> = {
    async send(batch) {
      const appends = batch.map(({ of, rows }) => ({ lease: of.lease, day: of.day, rows }));
      const held = await withPartitions(pool, () => appendLogs(pool, appends));
      tell(batch.map(({ of }) => of));
      return held;
    },
    settle({ of, rows }, held) {
      if (!held) return drop(of, 'lost');
      of.waiting.splice(0, rows.length);
      for (const row of rows) release(of, row.data.length);
      const last = rows.at(-1);
      if (last) of.stored = { chunks: last.sequence + 1, lines: last.lines, bytes: last.bytes };
      advance(of);
    },
    refuse: ({ of }, refusal) => drop(of, { refusal }),
  };

  /** That there is something new, of those that are followed. */
  function tell(news: readonly OpenLog[]): void {
    for (const of of news) of.isUntold = !watched.has(of.key);
    const told = news.filter((of) => !of.isUntold);
    if (told.length > 0) doorbell.ring({ logs: told.map((of) => of.key) });
  }

  async function storeBatch(): Promise<number> {
    const batch = takeBatch();
    if (batch.length === 0) return IDLE_MS;
    await sendBatch(batch, delivery);
    return 0;
  }

  /** Takes from each attempt in turn, so that a chatty one does not keep the others waiting. */
  function takeBatch(): Batch[] {
    const open = [...logs].filter((of) => of.waiting.length > 0);
    const share = Math.min(SHARE_CHARS, BATCH_CHARS / Math.max(open.length, 1));
    return open.map((of) => {
      let taken = 0;
      const end = of.waiting.findIndex((row) => (taken += row.data.length) > share);
      return { of, rows: of.waiting.slice(0, end === -1 ? undefined : Math.max(end, 1)) };
    });
  }

  function drop(of: OpenLog, why: Dropped): void {
    of.isDropped = true;
    of.waiting = [];
    release(of, of.chars);
    of.onDropped(why);
    advance(of);
  }

  function release(of: OpenLog, count: number): void {
    of.chars -= count;
    chars -= count;
  }

  function advance(of: OpenLog): void {
    of.progress.resolve();
    of.progress = Promise.withResolvers();
  }

  function open(lease: Lease, day: string, onDropped: (why: Dropped) => void): AttemptLog {
    const of: OpenLog = {
      lease,
      key: jobKey(lease),
      day,
      onDropped,
      waiting: [],
      chars: 0,
      stored: { chunks: 0, lines: 0, bytes: 0 },
      isDropped: false,
      isUntold: false,
      progress: Promise.withResolvers(),
    };
    let sequence = 0;
    logs.add(of);
    return {
      async write({ stream, line, lines, bytes, at, data }) {
        if (of.isDropped) return;
        of.waiting.push({ sequence: sequence++, line, lines, bytes, at, stream, data });
        of.chars += data.length;
        chars += data.length;
        loop.wake();
        while (of.chars > (chars > ALL_SPOOL_CHARS ? CHUNK_CHARS : SPOOL_CHARS)) await of.progress.promise;
      },
      async close() {
        while (of.waiting.length > 0) await of.progress.promise;
        logs.delete(of);
        return of.stored;
      },
    };
  }

  function watch(keys: readonly string[]): void {
    watched.add(keys);
    tell([...logs].filter((of) => of.isUntold && watched.has(of.key)));
  }

  return { open, watch, problem: loop.problem, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
}

// Stores the output of all running attempts: one statement at a time for all of them, so each attempt has at most one
// batch in flight and readers see a prefix. While the database is slow or away, `write` waits, which in the end
// stops the command at its pipe: nothing is dropped.
import type { LogStream } from '@wfg/shared/contract/log';
import type { Doorbell } from '@wfg/shared/db/doorbell';
import type { Lease } from '@wfg/shared/queries/leases';
import { type LogRow, appendLogs } from '@wfg/shared/queries/logs';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';

/** Characters that wait for the database before an attempt's `write` does; the bound on memory for each attempt. */
const SPOOL_CHARS = 1024 * 1024;
/** Characters in one statement. */
const BATCH_CHARS = 4 * 1024 * 1024;
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
  /** Takes a chunk; resolves when there is room for the next. After the lease is lost it drops what it is given. */
  write: (chunk: Chunk) => Promise<void>;
  /** Resolves when everything written is stored, or the lease is lost. */
  close: () => Promise<Seal>;
}

export interface LogSink extends AsyncDisposable {
  /** `day` is the day the attempt started; `onLost` is called once if the lease turns out to be lost. */
  open: (lease: Lease, day: string, onLost: () => void) => AttemptLog;
}

interface OpenLog {
  lease: Lease;
  day: string;
  onLost: () => void;
  waiting: LogRow[];
  chars: number;
  lost: boolean;
  /** Called after each batch. */
  progress: PromiseWithResolvers<void>;
}

/** One sink serves a whole worker. */
export function createLogSink(pool: pg.Pool, doorbell: Doorbell, log: Logger): LogSink {
  const logs = new Set<OpenLog>();
  const loop = startLoop({ name: 'logs', log, step: storeBatch });

  async function storeBatch(): Promise<number> {
    const batch = takeBatch();
    if (batch.length === 0) return IDLE_MS;
    const appends = batch.map(({ of, rows }) => ({ lease: of.lease, day: of.day, rows }));
    const held = await withPartitions(pool, () => appendLogs(pool, appends));
    for (const [index, { of, rows }] of batch.entries()) settle(of, rows, held[index] ?? false);
    doorbell.ring({ logs: batch.map(({ of }) => `${of.lease.run_id}-${of.lease.position}`) });
    return 0;
  }

  /** Takes from each attempt in turn, so that a chatty one does not keep the others waiting. */
  function takeBatch(): { of: OpenLog; rows: LogRow[] }[] {
    const open = [...logs].filter((of) => of.waiting.length > 0);
    const share = BATCH_CHARS / Math.max(open.length, 1);
    return open.map((of) => {
      let chars = 0;
      const end = of.waiting.findIndex((row) => (chars += row.data.length) > share);
      return { of, rows: of.waiting.slice(0, end === -1 ? undefined : Math.max(end, 1)) };
    });
  }

  function settle(of: OpenLog, rows: LogRow[], held: boolean): void {
    if (held) {
      of.waiting.splice(0, rows.length);
      for (const row of rows) of.chars -= row.data.length;
    } else {
      of.lost = true;
      of.waiting = [];
      of.chars = 0;
      of.onLost();
    }
    of.progress.resolve();
    of.progress = Promise.withResolvers();
  }

  function open(lease: Lease, day: string, onLost: () => void): AttemptLog {
    const of: OpenLog = {
      lease,
      day,
      onLost,
      waiting: [],
      chars: 0,
      lost: false,
      progress: Promise.withResolvers(),
    };
    const seal: Seal = { chunks: 0, lines: 0, bytes: 0 };
    logs.add(of);
    return {
      async write({ stream, line, lines, bytes, at, data }) {
        if (of.lost) return;
        of.waiting.push({ sequence: seal.chunks++, line, lines, bytes, at, stream, data });
        of.chars += data.length;
        seal.lines = lines;
        seal.bytes = bytes;
        loop.wake();
        while (of.chars > SPOOL_CHARS) await of.progress.promise;
      },
      async close() {
        while (of.waiting.length > 0) await of.progress.promise;
        logs.delete(of);
        return seal;
      },
    };
  }

  return { open, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
}

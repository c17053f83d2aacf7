// The text of an attempt on its way into the log: cut into chunks, which are delivered in order, one at a time.

import type { LogStream } from '@wfg/shared/contract/log';
import type { NumberedText } from '@wfg/shared/rules/log-numbering';
import { createLogCutter } from './log-cutter.ts';

/** Chunks of up to 64 KiB that wait for delivery before it is called full. */
const MOST_WAITING = 4;

/** A piece of the log; whoever stores it gives it a sequence number. */
export interface LogChunk extends NumberedText {
  /** When it was cut, by this machine's clock. */
  at: Date;
}

interface LogWriterSettings {
  /** Awaited before the next chunk. Never rejects. */
  write: (chunk: LogChunk) => void | Promise<void>;
  /** What is beyond is not kept, which a last line says. */
  maxBytes: number;
  /** Called when much waits, and when nothing does any more. */
  onFull?: () => void;
  onEmpty?: () => void;
}

export interface LogWriter {
  /** Takes text without waiting for its delivery: all that may wait is `maxBytes`, unless the writer heeds `onFull`. */
  write: (stream: LogStream, text: string) => void;
  /** A line of wfg's own. */
  writeLine: (stream: LogStream, line: string) => void;
  /** To be called last. Resolves when everything has been delivered. */
  end: () => Promise<void>;
}

export function createLogWriter({ write, maxBytes, onFull, onEmpty }: LogWriterSettings): LogWriter {
  const cutter = createLogCutter(maxBytes);
  const waiting: LogChunk[] = [];
  let delivery: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let alarmAt = Infinity;

  function send(pieces: NumberedText[]): void {
    if (pieces.length > 0) {
      const at = new Date();
      waiting.push(...pieces.map((piece) => ({ ...piece, at })));
      delivery ??= deliver();
      if (waiting.length > MOST_WAITING) onFull?.();
    }
    const dueAt = cutter.dueAt();
    // Who comes too early comes again: with every line of a program that prints line by line another timer would be made.
    if (dueAt >= alarmAt) return;
    clearTimeout(timer);
    alarmAt = dueAt;
    timer = setTimeout(flush, Math.max(0, dueAt - performance.now()));
  }

  function flush(): void {
    alarmAt = Infinity;
    send(cutter.flush(performance.now()));
  }

  async function deliver(): Promise<void> {
    while (waiting.length > 0) for (const chunk of waiting.splice(0)) await write(chunk);
    delivery = null;
    onEmpty?.();
  }

  return {
    write: (stream, text) => send(cutter.write(stream, text, performance.now())),
    writeLine: (stream, line) => send(cutter.writeLine(stream, line)),
    async end() {
      send(cutter.end());
      clearTimeout(timer);
      await delivery;
    },
  };
}

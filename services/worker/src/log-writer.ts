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

/** What may wait for delivery of all writers together whose source cannot be made to wait, in characters. */
export interface LogRoom {
  readonly most: number;
  taken: number;
}

interface LogWriterSettings {
  /** Awaited before the next chunk. Never rejects. */
  write: (chunk: LogChunk) => void | Promise<void>;
  /** What is beyond is not kept, which a last line says. */
  maxBytes: number;
  /** While nothing of it is left, what comes is not kept, which a line says. Without it nobody is refused. */
  room?: LogRoom;
  /** Called when much waits, and when nothing does any more. */
  onFull?: () => void;
  onEmpty?: () => void;
}

export interface LogWriter {
  /** Takes text without waiting for its delivery: unless the writer heeds `onFull`, `room` bounds what waits. */
  write: (stream: LogStream, text: string) => void;
  /** A line of wfg's own. */
  writeLine: (stream: LogStream, line: string) => void;
  /** To be called last. Resolves when everything has been delivered. */
  end: () => Promise<void>;
}

/** For one attempt. */
export function createLogWriter({ write, maxBytes, room, onFull, onEmpty }: LogWriterSettings): LogWriter {
  const cutter = createLogCutter(maxBytes);
  const waiting: LogChunk[] = [];
  let delivery: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let alarmAt = Infinity;
  /** Lines since there was no room. */
  let unkept = 0;

  function send(pieces: NumberedText[]): void {
    if (pieces.length > 0) {
      const at = new Date();
      waiting.push(...pieces.map((piece) => ({ ...piece, at })));
      if (room) for (const { data } of pieces) room.taken += data.length;
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
    while (waiting.length > 0) {
      for (const chunk of waiting.splice(0)) {
        await write(chunk);
        if (room) room.taken -= chunk.data.length;
      }
      if (waiting.length === 0) tellUnkept();
    }
    delivery = null;
    onEmpty?.();
  }

  function tellUnkept(): void {
    if (unkept === 0) return;
    const what = `${unkept} ${unkept === 1 ? 'line was' : 'lines were'} not kept`;
    unkept = 0;
    send(cutter.writeLine('stderr', `[wfg] ${what}: too much waits for the database`));
  }

  return {
    write(stream, text) {
      // Who was refused waits until all that it wrote before is delivered: so it is told once, and not again and again.
      const isShut = unkept > 0 && delivery !== null;
      if (isShut || (room && room.taken >= room.most)) unkept += text.split('\n').length - 1;
      else {
        tellUnkept();
        send(cutter.write(stream, text, performance.now()));
      }
    },
    writeLine: (stream, line) => send(cutter.writeLine(stream, line)),
    async end() {
      send(cutter.end());
      if (delivery === null) tellUnkept();
      clearTimeout(timer);
      await delivery;
    },
  };
}

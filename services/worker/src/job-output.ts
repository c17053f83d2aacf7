// The output of an attempt on its way into the log: read, masked, cut, and delivered in order.

import type { Readable } from 'node:stream';
import type { LogStream } from '@wfg/shared/contract/log';
import type { NumberedText } from '@wfg/shared/rules/log-numbering';
import { createLineCommands } from './line-commands.ts';
import { createLogCutter } from './log-cutter.ts';
import { createMasker, type Secrets } from './masker.ts';
import type { OutputCollector } from './outputs.ts';
import { createPrintable } from './printable.ts';

/** Of the end of the output, for the error text. */
const TAIL_LENGTH = 4_096;
/** Chunks of up to 64 KiB that wait for delivery before reading pauses, and with it the program. */
const MOST_WAITING = 4;

/** A piece of the log; whoever stores it gives it a sequence number. */
export interface LogChunk extends NumberedText {
  /** When it was cut, by this machine's clock. */
  at: Date;
}

interface JobOutputSettings {
  /** Awaited before the next chunk. Never rejects. */
  write: (chunk: LogChunk) => void | Promise<void>;
  maxBytes: number;
  outputs: OutputCollector;
  secrets: Secrets;
}

/** What reading has done so far. */
export interface Reading {
  bytes: number;
  /** How often it was paused; `isPaused` now. */
  pauses: number;
  isPaused: boolean;
}

export interface JobOutput {
  reading: Readonly<Reading>;
  /** Reads a stream until its end, or until `end` is called. Resolves at its end. */
  attach: (stream: LogStream, source: Readable) => Promise<void>;
  /** A line of wfg's own. */
  writeLine: (stream: LogStream, line: string) => void;
  /** The last 4,096 characters of output. */
  tail: () => string;
  /** Takes no more. Resolves when everything has been delivered. */
  end: () => Promise<void>;
}

export function createJobOutput(settings: JobOutputSettings): JobOutput {
  const { write, maxBytes, outputs, secrets } = settings;
  const cutter = createLogCutter(maxBytes);
  const reading: Reading = { bytes: 0, pauses: 0, isPaused: false };
  const sources: { source: Readable; finish: () => void }[] = [];
  const waiting: LogChunk[] = [];
  let delivery: Promise<void> | null = null;
  let tail = '';
  let timer: NodeJS.Timeout | undefined;

  function show(stream: LogStream, text: string): void {
    if (text === '') return;
    tail = (tail + text.slice(-TAIL_LENGTH)).slice(-TAIL_LENGTH);
    send(cutter.write(stream, text, performance.now()));
  }

  function addMask(secret: string): void {
    if (secret === '' || secrets.add(secret)) return;
    const note = '[wfg] a value of fewer than 4 characters cannot be masked';
    send(cutter.writeLine('stdout', note));
  }

  function send(pieces: NumberedText[]): void {
    const at = new Date();
    waiting.push(...pieces.map((piece) => ({ ...piece, at })));
    if (waiting.length > 0) delivery ??= deliver();
    if (waiting.length > MOST_WAITING) pause();
    const dueAt = cutter.dueAt();
    clearTimeout(timer);
    if (dueAt < Infinity) timer = setTimeout(flush, Math.max(0, dueAt - performance.now()));
  }

  function flush(): void {
    send(cutter.flush(performance.now()));
  }

  async function deliver(): Promise<void> {
    for (let chunk = waiting.shift(); chunk; chunk = waiting.shift()) await write(chunk);
    delivery = null;
    resume();
  }

  function pause(): void {
    if (reading.isPaused) return;
    reading.isPaused = true;
    reading.pauses++;
    for (const { source } of sources) source.pause();
  }

  function resume(): void {
    if (!reading.isPaused) return;
    reading.isPaused = false;
    for (const { source } of sources) source.resume();
  }

  return {
    reading,
    async attach(stream, source) {
      const text = createPrintable();
      const commands = stream === 'stdout' ? createLineCommands(outputs, addMask) : null;
      const masker = createMasker(secrets);
      const shown = (more: string) => masker.write(commands ? commands.write(more) : more);
      const ended = Promise.withResolvers<void>();
      let isOpen = true;

      function finish(): void {
        if (!isOpen) return;
        isOpen = false;
        show(stream, shown(text.end()) + masker.write(commands?.end() ?? '') + masker.end());
        ended.resolve();
      }

      source.on('data', (bytes: Buffer) => {
        if (!isOpen) return;
        reading.bytes += bytes.length;
        show(stream, shown(text.write(bytes)));
      });
      source.once('close', finish);
      sources.push({ source, finish });
      if (reading.isPaused) source.pause();
      await ended.promise;
    },
    writeLine: (stream, line) => send(cutter.writeLine(stream, secrets.mask(line))),
    tail: () => tail.replace(/^[\uDC00-\uDFFF]/, ''),
    async end() {
      for (const { finish } of sources) finish();
      send(cutter.end());
      clearTimeout(timer);
      await delivery;
    },
  };
}

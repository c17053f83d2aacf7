// The output of an attempt on its way into the log: read, masked, cut, and delivered in order.

import type { Readable } from 'node:stream';
import type { LogStream } from '@wfg/shared/contract/log';
import { createLineCommands } from './line-commands.ts';
import { createLogWriter, type LogChunk } from './log-writer.ts';
import { createMasker, type Secrets } from './masker.ts';
import type { OutputCollector } from './outputs.ts';
import { createPrintable } from './printable.ts';

/** Of the end of the output, for the error text. */
const TAIL_LENGTH = 4_096;
/** It is cut now and then: each time would be most of the work for a program that prints line by line. */
const LONGEST_TAIL = 16 * TAIL_LENGTH;

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
  /** From here on the secret is not shown; the log says of one that is too short that it is. */
  mask: (secret: string) => void;
  /** A line of wfg's own. */
  writeLine: (stream: LogStream, line: string) => void;
  /** The last 4,096 characters of output. */
  tail: () => string;
  /** Takes no more. Resolves when everything has been delivered. */
  end: () => Promise<void>;
}

/** For one attempt; its streams are read no faster than their text is delivered. */
export function createJobOutput(settings: JobOutputSettings): JobOutput {
  const { write, maxBytes, outputs, secrets } = settings;
  const writer = createLogWriter({ write, maxBytes, onFull: pause, onEmpty: resume });
  const reading: Reading = { bytes: 0, pauses: 0, isPaused: false };
  const sources: { source: Readable; finish: () => void }[] = [];
  let tail = '';

  function show(stream: LogStream, text: string): void {
    if (text === '') return;
    tail += text.slice(-TAIL_LENGTH);
    if (tail.length > LONGEST_TAIL) tail = tail.slice(-TAIL_LENGTH);
    writer.write(stream, text);
  }

  function mask(secret: string): void {
    if (secret === '' || secrets.add(secret)) return;
    const note = '[wfg] a value of fewer than 4 characters cannot be masked';
    writer.writeLine('stdout', note);
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
      const commands = stream === 'stdout' ? createLineCommands(outputs, mask) : null;
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
    mask,
    writeLine: (stream, line) => writer.writeLine(stream, secrets.mask(line)),
    tail: () => tail.slice(-TAIL_LENGTH).replace(/^[\uDC00-\uDFFF]/, ''),
    async end() {
      for (const { finish } of sources) finish();
      await writer.end();
    },
  };
}

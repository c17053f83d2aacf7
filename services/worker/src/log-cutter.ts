// Cuts the output of an attempt into the chunks of its log. Pure: whoever calls it says what time it is.

import type { LogStream } from '@wfg/shared/contract/log';
import { fit } from './fit.ts';
import { createPendingText } from './pending-text.ts';

export interface CutText {
  stream: LogStream;
  /** The number of its first line, from 1 over both streams; what continues a line has that line's number. */
  line: number;
  data: string;
  /** Lines begun and bytes of UTF-8 in the attempt, up to and with this piece. */
  lines: number;
  bytes: number;
}

/** All times are in milliseconds, of a clock that never goes back. */
interface LogCutter {
  /** Takes output. Returns the chunks that are complete by size, or since the other stream goes on. */
  write: (stream: LogStream, text: string, now: number) => CutText[];
  /** All that waits, and behind it a line of our own, in a chunk of its own. */
  writeLine: (stream: LogStream, line: string) => CutText[];
  /** The chunks that are due by time. */
  flush: (now: number) => CutText[];
  /** When a chunk will be due; Infinity when nothing waits. */
  dueAt: () => number;
  /** All that waits. */
  end: () => CutText[];
}

/** What is beyond `maxBytes` is not kept, which a last line says. */
export function createLogCutter(maxBytes: number): LogCutter {
  const streams = { stdout: createStream('stdout'), stderr: createStream('stderr') };
  let lines = 0;
  let bytes = 0;
  let isFull = false;

  function chunk(stream: Stream, data: string): CutText {
    const continued = stream.openLine;
    const count = data.split('\n').length - (data.endsWith('\n') ? 1 : 0);
    lines += continued === null ? count : count - 1;
    bytes += Buffer.byteLength(data);
    const line = continued ?? lines - count + 1;
    stream.openLine = data.endsWith('\n') ? null : line + count - 1;
    return { stream: stream.name, line, data, lines, bytes };
  }

  /** Lines of one chunk are numbered in a row, so a continued line ends its chunk if others were begun since. */
  function chunks(stream: Stream, data: string): CutText[] {
    if (data === '') return [];
    const isLast = stream.openLine === null || stream.openLine === lines;
    const end = isLast ? data.length : data.indexOf('\n') + 1 || data.length;
    return [chunk(stream, data.slice(0, end)), ...chunks(stream, data.slice(end))];
  }

  function limited(stream: Stream, data: string): CutText[] {
    if (isFull) return [];
    if (bytes + Buffer.byteLength(data) <= maxBytes) return chunks(stream, data);
    const kept = chunks(stream, data.slice(0, fit(data, maxBytes - bytes)));
    isFull = true;
    const notice = `[wfg] log limit of ${maxBytes} bytes reached; later output is dropped\n`;
    return [...kept, ...chunks(stream, onNewLine(stream, notice))];
  }

  const byAge = () => Object.values(streams).sort((a, b) => a.pending.waitsSince() - b.pending.waitsSince());

  const end = () => byAge().flatMap((stream) => limited(stream, stream.pending.end()));

  return {
    write(name, text, now) {
      if (isFull) return [];
      const other = name === 'stdout' ? streams.stderr : streams.stdout;
      const before = limited(other, other.pending.lines());
      const pieces = streams[name].pending.add(text, now);
      return [...before, ...pieces.flatMap((piece) => limited(streams[name], piece))];
    },
    writeLine(name, line) {
      const before = end();
      return [...before, ...limited(streams[name], onNewLine(streams[name], `${line}\n`))];
    },
    flush: (now) => byAge().flatMap((stream) => limited(stream, stream.pending.due(now))),
    dueAt: () => Math.min(...Object.values(streams).map(({ pending }) => pending.dueAt())),
    end,
  };
}

interface Stream {
  name: LogStream;
  pending: ReturnType<typeof createPendingText>;
  /** The number of the line that was sent in part. */
  openLine: number | null;
}

function createStream(name: LogStream): Stream {
  return { name, pending: createPendingText(), openLine: null };
}

function onNewLine(stream: Stream, line: string): string {
  return stream.openLine === null ? line : `\n${line}`;
}

// Cuts the output of an attempt into the chunks of its log. Pure: whoever calls it says what time it is.

import type { LogStream } from '@wfg/shared/contract/log';
import { emptyLog, type NumberedText, numberText, onNewLine } from '@wfg/shared/rules/log-numbering';
import { createPendingText } from './pending-text.ts';

/** All times are in milliseconds, of a clock that never goes back. */
interface LogCutter {
  /** Takes output. Returns the chunks that are complete by size, or since the other stream goes on. */
  write: (stream: LogStream, text: string, now: number) => NumberedText[];
  /** All that waits, and behind it a line of our own, in a chunk of its own. */
  writeLine: (stream: LogStream, line: string) => NumberedText[];
  /** The chunks that are due by time. */
  flush: (now: number) => NumberedText[];
  /** When a chunk will be due; Infinity when nothing waits. */
  dueAt: () => number;
  /** All that waits. */
  end: () => NumberedText[];
}

/** What is beyond `maxBytes` is not kept, which a last line says. */
export function createLogCutter(maxBytes: number): LogCutter {
  const streams = { stdout: createStream('stdout'), stderr: createStream('stderr') };
  const log = emptyLog();

  const numbered = ({ name }: Stream, data: string) => numberText(log, name, data, maxBytes);

  const byAge = () => Object.values(streams).sort((a, b) => a.pending.waitsSince() - b.pending.waitsSince());

  const end = () => byAge().flatMap((stream) => numbered(stream, stream.pending.end()));

  return {
    write(name, text, now) {
      if (log.is_full) return [];
      const other = name === 'stdout' ? streams.stderr : streams.stdout;
      const before = numbered(other, other.pending.lines());
      const pieces = streams[name].pending.add(text, now);
      return [...before, ...pieces.flatMap((piece) => numbered(streams[name], piece))];
    },
    writeLine(name, line) {
      const before = end();
      return [...before, ...numbered(streams[name], onNewLine(log, name, `${line}\n`))];
    },
    flush: (now) => byAge().flatMap((stream) => numbered(stream, stream.pending.due(now))),
    dueAt: () => Math.min(streams.stdout.pending.dueAt(), streams.stderr.pending.dueAt()),
    end,
  };
}

interface Stream {
  name: LogStream;
  pending: ReturnType<typeof createPendingText>;
}

function createStream(name: LogStream): Stream {
  return { name, pending: createPendingText() };
}

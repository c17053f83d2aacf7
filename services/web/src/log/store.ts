// The lines of one job's log, made from chunks that may end in mid line and may come twice. Pure, grows at its end only.
import type { LogChunk, LogPosition, LogStream } from '@wfg/shared/contract/log';
import { overwritten } from './ansi.ts';

/** One row of the viewer: a line of output, or a note of the viewer itself (`stream` null). */
export interface Line {
  attempt: number;
  /** Counted within the attempt, from 1; 0 for a note. */
  number: number;
  stream: LogStream | null;
  at: number;
  text: string;
  /** Characters of the line that are not kept. */
  cut: number;
}

export type Chunk = Pick<LogChunk, 'attempt' | 'sequence' | 'stream' | 'timestamp_ms' | 'data'>;

/** Characters kept of one line: a program that writes megabytes without a line end must not fill the browser. */
export const LINE_LIMIT = 65_536;

export interface LogStore {
  lines: readonly Line[];
  /** Lines of output, without notes. */
  count(): number;
  /** Characters of the longest line kept. */
  longest(): number;
  /** When the first line of an attempt was printed; 0 before it. */
  startOf(attempt: number): number;
  /** The last chunk known, as `"<attempt>:<sequence>"`; undefined while there is none. */
  position(): string | undefined;
  append(chunk: Chunk): void;
  beginAttempt(attempt: number): void;
}

export function createLogStore(): LogStore {
  const lines: Line[] = [];
  /** Each stream's line that has not ended yet: output of the other may come in between. */
  const open = new Map<LogStream, Line>();
  const starts = new Map<number, number>();
  let last: LogPosition | null = null;
  let attempt = -1;
  let count = 0;
  let numbered = 0;
  let longest = 0;

  function note(text: string): void {
    lines.push({ attempt, number: 0, stream: null, at: 0, text, cut: 0 });
  }

  function beginAttempt(next: number): void {
    if (next <= attempt) return;
    attempt = next;
    numbered = 0;
    open.clear();
    if (lines.length > 0 || next > 0) note(`Attempt ${next}`);
  }

  function add(chunk: Chunk, piece: string, ends: boolean): void {
    let line = open.get(chunk.stream);
    if (line === undefined) {
      numbered += 1;
      count += 1;
      line = { attempt, number: numbered, stream: chunk.stream, at: chunk.timestamp_ms, text: '', cut: 0 };
      lines.push(line);
      if (numbered === 1) starts.set(attempt, line.at);
    }
    extend(line, piece);
    longest = Math.max(longest, line.text.length);
    if (ends) open.delete(chunk.stream);
    else open.set(chunk.stream, line);
  }

  return {
    lines,
    count: () => count,
    longest: () => longest,
    startOf: (of) => starts.get(of) ?? 0,
    position: () => (last ? `${last.attempt}:${last.sequence}` : undefined),
    beginAttempt,
    append(chunk) {
      if (last && !isAfter(chunk, last)) return;
      beginAttempt(chunk.attempt);
      const expected = last?.attempt === chunk.attempt ? last.sequence + 1 : 0;
      if (chunk.sequence > expected) {
        open.clear();
        note(`Part of the output is missing here (${chunk.sequence - expected} pieces)`);
      }
      last = { attempt: chunk.attempt, sequence: chunk.sequence };
      let from = 0;
      for (let end = chunk.data.indexOf('\n'); end >= 0; end = chunk.data.indexOf('\n', from)) {
        add(chunk, chunk.data.slice(from, end), true);
        from = end + 1;
      }
      if (from < chunk.data.length) add(chunk, chunk.data.slice(from), false);
    },
  };
}

function isAfter(chunk: Chunk, last: LogPosition): boolean {
  return chunk.attempt === last.attempt ? chunk.sequence > last.sequence : chunk.attempt > last.attempt;
}

function extend(line: Line, piece: string): void {
  const whole = line.text + piece;
  const text = overwritten(whole);
  line.text = text.slice(0, LINE_LIMIT);
  line.cut = (text === whole ? line.cut : 0) + text.length - line.text.length;
}

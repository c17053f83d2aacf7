// Numbers the lines of an attempt's output and counts its bytes, over both streams, up to the limit of its log.
import type { LogStream } from '../contract/log.ts';
import { fit } from './fit.ts';

/** A piece of output of one stream as it is stored. */
export interface NumberedText {
  stream: LogStream;
  /** The number of its first line, from 1 over both streams; what continues a line has that line's number. */
  line: number;
  data: string;
  /** Lines begun and bytes of UTF-8 in the attempt, up to and with this piece. */
  lines: number;
  bytes: number;
}

/** How far the log of an attempt has come. */
export interface LogProgress {
  lines: number;
  bytes: number;
  /** Of each stream, the number of the line that was sent in part. */
  open: Record<LogStream, number | null>;
  /** The limit was reached: nothing more is kept. */
  is_full: boolean;
}

/** Where every log begins. */
export function emptyLog(): LogProgress {
  return { lines: 0, bytes: 0, open: { stdout: null, stderr: null }, is_full: false };
}

/**
 * Numbers the next piece of a stream; empty when nothing of it is kept. `log` is moved on. What is beyond `maxBytes` is
 * not kept, which a last line says.
 */
export function numberText(
  log: LogProgress,
  stream: LogStream,
  data: string,
  maxBytes: number,
): NumberedText[] {
  if (log.is_full) return [];
  if (log.bytes + Buffer.byteLength(data) <= maxBytes) return pieces(log, stream, data);
  const kept = pieces(log, stream, data.slice(0, fit(data, maxBytes - log.bytes)));
  log.is_full = true;
  const notice = `[wfg] log limit of ${maxBytes} bytes reached; later output is dropped\n`;
  return [...kept, ...pieces(log, stream, onNewLine(log, stream, notice))];
}

/** The text of a line of our own, which begins a new one. */
export function onNewLine(log: LogProgress, stream: LogStream, line: string): string {
  return log.open[stream] === null ? line : `\n${line}`;
}

/** Lines of one piece are numbered in a row, so a continued line ends its piece if others were begun since. */
function pieces(log: LogProgress, stream: LogStream, data: string): NumberedText[] {
  if (data === '') return [];
  const open = log.open[stream];
  const isLast = open === null || open === log.lines;
  const end = isLast ? data.length : data.indexOf('\n') + 1 || data.length;
  return [piece(log, stream, data.slice(0, end)), ...pieces(log, stream, data.slice(end))];
}

function piece(log: LogProgress, stream: LogStream, data: string): NumberedText {
  const continued = log.open[stream];
  const count = countFeeds(data) + (data.endsWith('\n') ? 0 : 1);
  log.lines += continued === null ? count : count - 1;
  log.bytes += Buffer.byteLength(data);
  const line = continued ?? log.lines - count + 1;
  log.open[stream] = data.endsWith('\n') ? null : line + count - 1;
  return { stream, line, data, lines: log.lines, bytes: log.bytes };
}

function countFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

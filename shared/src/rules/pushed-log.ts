// What becomes of chunks that a worker sends over HTTP, perhaps twice, late or with holes: the rows of its log.
import { toStorableText } from '../contract/json.ts';
import type { LogStream } from '../contract/log.ts';
import { fit } from './fit.ts';
import { emptyLog, type LogProgress, type NumberedText, numberText, onNewLine } from './log-numbering.ts';

const MAX_ROW_BYTES = 65_536;

export interface PushedChunk {
  /** The sender's own number, from 0 in every attempt. */
  sequence: number;
  stream: LogStream;
  data: string;
  timestamp_ms: number;
}

/** How far an attempt's log has come. */
export interface PushedLog extends LogProgress {
  /** The sender's number of the chunk that comes next. */
  next: number;
  /** Rows that are stored. */
  chunks: number;
}

export interface PushedRow extends NumberedText {
  sequence: number;
  at: Date;
}

/** Before the first push. */
export function emptyPush(): PushedLog {
  return { ...emptyLog(), next: 0, chunks: 0 };
}

/**
 * The rows of one push, numbered without holes behind those that are there; `log` is moved on. A chunk below the
 * number that comes next was stored before and is ignored; one above it comes behind a line that says what is missing.
 */
export function acceptPush(log: PushedLog, pushed: readonly PushedChunk[], maxBytes: number): PushedRow[] {
  const rows: PushedRow[] = [];

  function store(texts: readonly NumberedText[], timestamp_ms: number): void {
    for (const text of texts) rows.push({ ...text, sequence: log.chunks++, at: new Date(timestamp_ms) });
  }

  for (const { sequence, stream, data, timestamp_ms } of [...pushed].sort(
    (a, b) => a.sequence - b.sequence,
  )) {
    if (sequence < log.next) continue;
    if (sequence > log.next) {
      const missing = sequence - log.next;
      const notice = `[wfg] ${missing} ${missing === 1 ? 'chunk' : 'chunks'} of this log got lost\n`;
      store(numberText(log, stream, onNewLine(log, stream, notice), maxBytes), timestamp_ms);
    }
    log.next = sequence + 1;
    // An empty chunk has a row too: the last row of a push is where the sender's number is kept.
    if (data === '') store(emptyText(log, stream), timestamp_ms);
    for (const piece of piecesOf(toStorableText(data))) {
      store(numberText(log, stream, piece, maxBytes), timestamp_ms);
    }
  }
  return rows;
}

function emptyText(log: PushedLog, stream: LogStream): NumberedText[] {
  if (log.is_full) return [];
  const { lines, bytes, open } = log;
  return [{ stream, line: open[stream] ?? lines + 1, data: '', lines, bytes }];
}

/** Cut to size, at line ends where there are any. */
function* piecesOf(text: string): Generator<string> {
  let rest = text;
  while (rest !== '') {
    const length = fit(rest, MAX_ROW_BYTES);
    const cut = length < rest.length ? rest.lastIndexOf('\n', length - 1) + 1 || length : length;
    yield rest.slice(0, cut);
    rest = rest.slice(cut);
  }
}

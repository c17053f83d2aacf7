// Output of one stream that waits to be sent: until it is much, or old, and with a good place to cut it.

import { fit } from '@wfg/shared/rules/fit';

const MAX_BYTES = 65_536;
/** From the first character until complete lines are sent. */
const WINDOW_MS = 50;
/** From the first character of a line until it is sent although it may go on. */
const OPEN_LINE_MS = 250;

interface PendingText {
  /** Takes more text. Returns the pieces of at most 64 KiB that are complete by size. */
  add: (more: string, now: number) => string[];
  /** The piece that is due by time, or ''. */
  due: (now: number) => string;
  /** All complete lines, or ''. */
  lines: () => string;
  /** When a piece will be due; Infinity when nothing waits. */
  dueAt: () => number;
  /** When what waits came; Infinity when nothing does. */
  waitsSince: () => number;
  /** All that waits. */
  end: () => string;
}

/** For one stream. Times are in milliseconds, of a clock that never goes back. */
export function createPendingText(): PendingText {
  let text = '';
  let bytes = 0;
  let since = 0;
  /** Behind the last line feed or carriage return. */
  let cut = 0;
  /** When the first character behind `cut` came. */
  let openSince = 0;
  let endsInReturn = false;

  function take(length: number): string {
    const piece = text.slice(0, length);
    text = text.slice(length);
    bytes -= Buffer.byteLength(piece);
    since = openSince;
    cut = Math.max(0, cut - length);
    return piece;
  }

  function append(more: string, now: number): void {
    if (text === '') since = now;
    if (text.length === cut) openSince = now;
    const cutInMore = lastCut(more);
    // Only now is it known that the carriage return does not belong to a line feed.
    const isCutBefore = endsInReturn && text !== '' && !more.startsWith('\n');
    if (cutInMore > 0 || isCutBefore) {
      cut = text.length + cutInMore;
      openSince = now;
    }
    text += more;
    bytes += Buffer.byteLength(more);
    endsInReturn = more.endsWith('\r');
  }

  return {
    add(more, now) {
      if (more === '') return [];
      append(more, now);
      const pieces: string[] = [];
      while (bytes >= MAX_BYTES) {
        const length = fit(text, MAX_BYTES);
        pieces.push(take(lastCut(text.slice(0, length)) || length));
      }
      return pieces;
    },
    due(now) {
      if (text !== '' && text.length > cut && now >= openSince + OPEN_LINE_MS) return take(text.length);
      return cut > 0 && now >= since + WINDOW_MS ? take(cut) : '';
    },
    lines: () => take(cut),
    dueAt() {
      if (text === '') return Infinity;
      const open = text.length > cut ? openSince + OPEN_LINE_MS : Infinity;
      return cut > 0 ? Math.min(since + WINDOW_MS, open) : open;
    },
    waitsSince: () => (text === '' ? Infinity : since),
    end: () => take(text.length),
  };
}

/** The length up to the last line feed, or carriage return that is known to stand alone; 0 if there is none. */
function lastCut(text: string): number {
  const feed = text.lastIndexOf('\n') + 1;
  return feed + text.slice(feed, -1).lastIndexOf('\r') + 1;
}

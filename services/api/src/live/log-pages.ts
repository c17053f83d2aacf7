// The log of one job page by page, for all who read it at about the same place: each page is read and encoded once, and
// kept for a while.
import { comparePositions, type LogPosition } from '@wfg/shared/contract/log';
import type { JobState } from '@wfg/shared/contract/job';
import { type JobKey, jobKey } from '@wfg/shared/contract/job-key';
import { type AttemptRow, readAttempts } from '@wfg/shared/queries/attempts';
import { readLog } from '@wfg/shared/queries/logs';
import type { FeedContext } from './feeds.ts';
import { SharedFrame } from './shared-frame.ts';

/** The sequence of the frame that says that an attempt begins: it comes before its first chunk. */
const BEGIN = -1;
/** A slow log has many small ones. */
const MOST_PAGES = 64;
/** Attempts looked at for a page: the one at the place, the next, which has something to tell, and whether there are more. */
const MOST_ATTEMPTS = 3;

/** A frame with its place in the log. */
export interface LogItem extends LogPosition {
  frame: SharedFrame;
  chars: number;
}

/** Where the job's last attempt is. */
export interface LogEnd {
  /** Of the job. */
  state: JobState;
  attempt: number;
  /** Its chunks, when it has ended. */
  sealed: number | null;
}

/** What comes behind a place, in order. */
export interface Page {
  items: readonly LogItem[];
  /** Of the job; null of a page that was kept, which knows nothing of that. */
  state: JobState | null;
  /** How things stand when there is no more than this; null when there may be. */
  end: LogEnd | null;
}

export interface LogPages {
  /** What comes behind a place, as it is now; null when there is no such job. */
  read: (place: LogPosition) => Promise<Page | null>;
  /** The same, for who reads what has long been there: perhaps somebody has just read it. */
  share: (place: LogPosition) => Promise<Page | null>;
  /** As bells name the job; empty before it was read. */
  key: () => string;
}

/** The place before everything of an attempt. */
export function before(attempt: number): LogPosition {
  return { attempt, sequence: BEGIN - 1 };
}

export function logPages(run: string, job: string, { pool, inTurn, keptChars }: FeedContext): LogPages {
  let kept: { start: LogPosition; items: LogItem[]; chars: number }[] = [];
  const reading = new Map<string, Promise<Page | null>>();
  let key = '';

  async function readPage(place: LogPosition): Promise<Page | null> {
    const found = await readAttempts(pool, run, job, { first: place.attempt, limit: MOST_ATTEMPTS });
    if (!found) return null;
    key = jobKey(found);
    const { state, attempts } = found;
    const last = attempts.length < MOST_ATTEMPTS ? attempts.at(-1) : undefined;
    for (const attempt of attempts) {
      const { items, more } = await readItems(found, attempt, place);
      if (items.length > 0) keep(place, items);
      if (attempt === last && !more) return { items, state, end: { state, ...endOf(attempt) } };
      if (items.length > 0) return { items, state, end: null };
    }
    return { items: [], state, end: { state, attempt: place.attempt, sealed: null } };
  }

  /** Of an attempt that is not before the place, at most a page. */
  async function readItems(
    { run_id, position }: JobKey,
    { attempt, day, sealed }: AttemptRow,
    place: LogPosition,
  ): Promise<{ items: LogItem[]; more: boolean }> {
    const after = attempt > place.attempt ? BEGIN - 1 : place.sequence;
    const items: LogItem[] = [];
    if (after < BEGIN) {
      const frame = new SharedFrame({ op: 'attempt', attempt });
      items.push({ attempt, sequence: BEGIN, frame, chars: 0 });
    }
    if (sealed === 0) return { items, more: false };
    const { rows, more } = await readLog(pool, { day, run_id, position, attempt, after, sealed });
    for (const { sequence, line, stream, at, data } of rows) {
      const timestamp_ms = at.getTime();
      const frame = new SharedFrame({ op: 'log', attempt, sequence, line, stream, timestamp_ms, data });
      items.push({ attempt, sequence, frame, chars: data.length });
    }
    return { items, more };
  }

  function keep(start: LogPosition, items: LogItem[]): void {
    kept.push({ start, items, chars: charsOf(items) });
    let chars = charsOf(kept);
    const most = keptChars();
    kept = kept.filter((page, index) => {
      if (chars <= most && kept.length - index <= MOST_PAGES) return true;
      chars -= page.chars;
      return false;
    });
  }

  /** What comes behind the place in a page that is kept. */
  function keptBehind(place: LogPosition): LogItem[] {
    for (const { start, items } of kept) {
      if (comparePositions(start, place) > 0) continue;
      const rest = items.findIndex((item) => comparePositions(item, place) > 0);
      if (rest !== -1) return items.slice(rest);
    }
    return [];
  }

  function read(place: LogPosition): Promise<Page | null> {
    return inTurn(() => readPage(place));
  }

  return {
    key: () => key,
    read,
    async share(place) {
      const items = keptBehind(place);
      if (items.length > 0) return { items, state: null, end: null };
      const name = `${place.attempt}:${place.sequence}`;
      const known = reading.get(name);
      if (known) return known;
      const begun = read(place).finally(() => reading.delete(name));
      reading.set(name, begun);
      return begun;
    },
  };
}

function endOf({ attempt, sealed }: AttemptRow): Omit<LogEnd, 'state'> {
  return { attempt, sealed };
}

function charsOf(of: readonly { chars: number }[]): number {
  return of.reduce((sum, { chars }) => sum + chars, 0);
}

// A page of a job's log as the frames that viewers are sent, each with its place.
import type { JobKey } from '@wfg/shared/contract/job-key';
import type { LogPosition } from '@wfg/shared/contract/log';
import type { Queryable } from '@wfg/shared/db/pool';
import type { AttemptRow } from '@wfg/shared/queries/attempts';
import { readLog } from '@wfg/shared/queries/logs';
import { SharedFrame } from './shared-frame.ts';

/** The sequence of the frame that says that an attempt begins: it comes before its first chunk. */
const BEGIN = -1;

export interface LogItem extends LogPosition {
  frame: SharedFrame;
}

/** The place before everything of an attempt. */
export function before(attempt: number): LogPosition {
  return { attempt, sequence: BEGIN - 1 };
}

/** What comes behind `place` in an attempt that is not before it, at most a page of it, and whether there may be more. */
export async function readItems(
  db: Queryable,
  { run_id, position }: JobKey,
  { attempt, day, sealed }: AttemptRow,
  place: LogPosition,
): Promise<{ items: LogItem[]; more: boolean }> {
  const items: LogItem[] = [];
  const after = attempt > place.attempt ? BEGIN - 1 : place.sequence;
  if (after < BEGIN)
    items.push({ attempt, sequence: BEGIN, frame: new SharedFrame({ op: 'attempt', attempt }) });
  if (sealed === 0) return { items, more: false };
  const { rows, more } = await readLog(db, { day, run_id, position, attempt, after, sealed });
  for (const { sequence, line, stream, at, data } of rows) {
    const frame = { op: 'log' as const, attempt, sequence, line, stream, timestamp_ms: at.getTime(), data };
    items.push({ attempt, sequence, frame: new SharedFrame(frame) });
  }
  return { items, more };
}

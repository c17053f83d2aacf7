// Durations, ages and moments as people read them.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `0.4s`, `12s`, `3m 04s`, `2h 05m`, `3d 04h`: two units at most. Negative (clocks that differ) counts as none. */
export function durationText(ms: number, live: boolean): string {
  const span = Math.max(0, ms);
  if (span < 10 * SECOND && !live) return `${(span / SECOND).toFixed(1)}s`;
  if (span < MINUTE) return `${Math.floor(span / SECOND)}s`;
  if (span < HOUR) return pair(span, MINUTE, 'm', SECOND, 's');
  if (span < DAY) return pair(span, HOUR, 'h', MINUTE, 'm');
  return pair(span, DAY, 'd', HOUR, 'h');
}

function pair(span: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((span % large) / small);
  return `${Math.floor(span / large)}${largeUnit} ${String(rest).padStart(2, '0')}${smallUnit}`;
}

/** `just now`, `5 min ago`, `3 h ago`, `2 d ago`. */
export function ageText(ms: number): string {
  if (ms < MINUTE) return 'just now';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  return `${Math.floor(ms / DAY)} d ago`;
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A moment in the reader's own zone, to the second. */
export function momentText(time: string): string {
  return MOMENT.format(new Date(time));
}

// Durations and ages as people read them.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `2.1 s`, `2 min 5 s`, `2 h 2 min`. Negative (clocks that differ) counts as none. */
export function durationText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < MINUTE) return `${(span / SECOND).toFixed(1)} s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min ${Math.floor((span % MINUTE) / SECOND)} s`;
  return `${Math.floor(span / HOUR)} h ${Math.floor((span % HOUR) / MINUTE)} min`;
}

/** The largest unit alone: `3 s`, `5 min`, `3 h`, `2 d`. */
export function ageText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min`;
  return span < DAY ? `${Math.floor(span / HOUR)} h` : `${Math.floor(span / DAY)} d`;
}

/** How long it took, or takes until now; empty before it has begun. */
export function spanText(from: string | null, to: string | null, now: number): string {
  return from === null ? '' : durationText((to === null ? now : Date.parse(to)) - Date.parse(from));
}

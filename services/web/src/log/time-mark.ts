// The time beside a line. Pure.
import type { Times } from './use-view.ts';

/** `at`, of the attempt's first line and of the line before, are milliseconds since 1970. */
export function timeMark(times: Times, at: number, start: number, before: number): string {
  if (times === 'clock') return clockText(new Date(at));
  const ms = Math.max(0, at - (times === 'since the start' ? start : before));
  const secs = (ms / 1_000).toFixed(3);
  if (times === 'since the line before') return `+${secs}`;
  const minutes = Math.floor(ms / 60_000);
  return minutes === 0 ? secs : `${minutes}:${((ms % 60_000) / 1_000).toFixed(3).padStart(6, '0')}`;
}

function clockText(time: Date): string {
  return `${padded(time.getHours(), 2)}:${padded(time.getMinutes(), 2)}:${padded(time.getSeconds(), 2)}.${padded(time.getMilliseconds(), 3)}`;
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

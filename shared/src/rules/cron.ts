// When a schedule's ticks are: a cron expression of five fields, read on the wall clock of a time zone.
//
// Where clocks change, croner does as Vixie's cron does. A time of day that is written out (`30 2 * * *`, also in lists
// and ranges) and falls into the skipped hour ticks at the end of it; one that comes twice ticks the first time. With a
// `*` or a step in the minutes or hours (`*/15 * * * *`, `0 * * * *`) there is no tick in the skipped hour, and both
// hours of the repeated one have theirs. Without `no-wildcard` a list (`30 2,14 * * *`) would lose its tick that day.
import { Cron } from 'croner';
import type { Issue } from '../contract/problem.ts';
import { messageOf } from './message-of.ts';

export interface Rhythm {
  cron: string;
  /** Its IANA name. */
  timezone: string;
}

/** croner would also take a date. */
const FORM = /^(@[a-z]+|\S+(\s+\S+){4})$/i;

/** The first tick after a time; null when there never is one. */
export function nextTick(rhythm: Rhythm, after: Date): Date | null {
  return read(rhythm).nextRun(after);
}

/** The ticks after a time and up to another, the first ones first, at most `limit`. */
export function ticksBetween(rhythm: Rhythm, after: Date, until: Date, limit: number): Date[] {
  const cron = read(rhythm);
  const ticks: Date[] = [];
  for (let at: Date | null = after; ticks.length < limit; ) {
    at = cron.nextRun(at);
    if (at === null || at > until) break;
    ticks.push(at);
  }
  return ticks;
}

/** The next ticks after a time, at most `count`. */
export function nextTicks(rhythm: Rhythm, after: Date, count: number): Date[] {
  return read(rhythm).nextRuns(count, after);
}

/** What is wrong with it, under the name of the field; null when it ticks. */
export function rhythmIssue(rhythm: Rhythm): Issue | null {
  const { cron, timezone } = rhythm;
  if (!isZone(timezone)) {
    const message = `there is no time zone "${timezone}": give its IANA name, like Europe/Berlin`;
    return { path: 'timezone', message };
  }
  const why = cronFault(rhythm);
  return why === null ? null : { path: 'cron', message: `"${cron}" is no schedule: ${why}` };
}

function cronFault(rhythm: Rhythm): string | null {
  if (!FORM.test(rhythm.cron.trim())) {
    return 'it needs five fields (minute, hour, day of month, month, day of week), or one of @hourly @daily @weekly @monthly @yearly';
  }
  try {
    return nextTick(rhythm, new Date(0)) === null ? 'it never comes' : null;
  } catch (err) {
    return messageOf(err).replace(/^\w+: /, '');
  }
}

function isZone(timezone: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions();
    return /^[A-Za-z]/.test(timeZone);
  } catch {
    return false;
  }
}

function read({ cron, timezone }: Rhythm): Cron {
  return new Cron(cron, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
}

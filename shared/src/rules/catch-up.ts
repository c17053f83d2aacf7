// What becomes of the ticks of a schedule that are due: usually one that is due just now; after an outage many.
import type { CatchUp } from '../contract/cron.ts';
import { nextTick, type Rhythm, ticksBetween } from './cron.ts';

/** Of the ticks that are due so many of the latest start something; those before them are missed. */
const KEPT: Record<CatchUp, number> = { skip: 1, last: 1, all: 1_000 };
/** A tick so late is missed by `skip`: schedulers were away, and not just busy or changing places. */
const GRACE_MS = 60_000;
/** What is decided at once: little enough for a short transaction. */
const SLICE = { missed: 500, fired: 100 };
/** What became of ticks is kept so long. */
export const TICK_DAYS = 30;
const TICK_MS = TICK_DAYS * 24 * 3_600_000;

interface Due extends Rhythm {
  catch_up: CatchUp;
  /** The first tick that is not decided. */
  next_at: Date;
}

export interface Decision {
  missed: Date[];
  fired: Date[];
  /** The first tick after these; it may be due as well. Null when there is none for ever. */
  next: Date | null;
}

/** Decides a slice of the ticks that are due, the oldest first. */
export function decideTicks(schedule: Due, now: Date): Decision {
  const kept = KEPT[schedule.catch_up];
  const due = dueTicks(schedule, now, kept);
  if (due.length === kept + SLICE.missed) {
    return { missed: due.slice(0, SLICE.missed), fired: [], next: due[SLICE.missed] ?? null };
  }
  const latest = due.at(-1) ?? now;
  const isTooLate = schedule.catch_up === 'skip' && now.getTime() - latest.getTime() >= GRACE_MS;
  const from = isTooLate ? due.length : Math.max(0, due.length - kept);
  const until = from + SLICE.fired;
  return {
    missed: due.slice(0, from),
    fired: due.slice(from, until),
    next: due[until] ?? nextTick(schedule, latest),
  };
}

/** The first ones; but of very many not those that nobody would ever see: they start nothing and are too old to be kept. */
function dueTicks(schedule: Due, now: Date, kept: number): Date[] {
  const { next_at } = schedule;
  const most = kept + SLICE.missed;
  const due = [next_at, ...ticksBetween(schedule, next_at, now, most - 1)];
  const oldest = new Date(now.getTime() - TICK_MS);
  if (due.length < most || next_at >= oldest) return due;
  const recent = ticksBetween(schedule, oldest, now, most);
  return recent.length < kept ? due : recent;
}

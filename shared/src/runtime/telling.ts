// What goes wrong in many places of a process at once, and again and again, is told once: here it is remembered what was.

/** What goes on is told again. */
const REMIND_MS = 60_000;
/** Remembered at most: texts may differ each time. */
const MOST = 100;

const told = new Map<string, number>();

/** Whether this was not told within the last minute; if so, it counts as told now. */
export function isNews(what: string): boolean {
  const now = performance.now();
  if (now - (told.get(what) ?? Number.NEGATIVE_INFINITY) < REMIND_MS) return false;
  told.delete(what);
  told.set(what, now);
  const [oldest] = told.keys();
  if (told.size > MOST && oldest !== undefined) told.delete(oldest);
  return true;
}

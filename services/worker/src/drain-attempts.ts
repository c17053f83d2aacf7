// The end of a worker: what runs may finish within the grace, the rest is stopped and handed back.
import type { Logger } from 'pino';
import type { Attempt } from './attempt.ts';

/** For what was killed to be reported, before what cannot be stopped is given up. */
const REPORT_MS = 1_000;

interface DrainSettings {
  running: ReadonlySet<Attempt>;
  /** Resolves when nothing more can begin. */
  closed: Promise<unknown>;
  graceMs: number;
  /** From being told to stop to having stopped. */
  killGraceMs: number;
  /** Called when something has not. */
  giveUp: () => void;
  log: Logger;
}

/** Resolves when nothing runs any more; attempts that outlast the grace are stopped. */
export async function drainAttempts(settings: DrainSettings): Promise<void> {
  const { running, closed, graceMs, killGraceMs, giveUp, log } = settings;
  const grace = setTimeout(() => {
    log.warn({ running: running.size }, 'grace is over: stopping and handing back what still runs');
    for (const attempt of running) attempt.stop('shutdown');
  }, graceMs);
  const last = setTimeout(giveUp, graceMs + killGraceMs + REPORT_MS);
  try {
    await closed;
    if (running.size > 0) log.info({ running: running.size }, 'waiting for running jobs to finish');
    await Promise.all([...running].map((attempt) => attempt.ended));
  } finally {
    clearTimeout(grace);
    clearTimeout(last);
  }
}

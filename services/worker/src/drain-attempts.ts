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
  /** Ends all graces when aborted. */
  hurry: AbortSignal;
  /** Called when something has not stopped. */
  giveUp: () => void;
  log: Logger;
}

/** Resolves when nothing runs any more; attempts that outlast the grace are stopped. */
export async function drainAttempts(settings: DrainSettings): Promise<void> {
  const { running, closed, graceMs, killGraceMs, hurry, giveUp, log } = settings;
  let isOver = false;

  function stop(): void {
    isOver = true;
    for (const attempt of running) attempt.stop('shutdown');
  }

  function hurryUp(): void {
    stop();
    clearTimeout(last);
    last = setTimeout(giveUp, REPORT_MS);
  }

  const grace = setTimeout(() => {
    log.warn({ running: running.size }, 'grace is over: stopping and handing back what still runs');
    stop();
  }, graceMs);
  let last = setTimeout(giveUp, graceMs + killGraceMs + REPORT_MS);
  hurry.addEventListener('abort', hurryUp);
  try {
    await closed;
    // What was being claimed when the grace was over.
    if (isOver) stop();
    if (running.size > 0) log.info({ running: running.size }, 'waiting for running jobs to finish');
    await Promise.all([...running].map((attempt) => attempt.ended));
  } finally {
    clearTimeout(grace);
    clearTimeout(last);
    hurry.removeEventListener('abort', hurryUp);
  }
}

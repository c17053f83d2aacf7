// The end of a worker: what runs may finish within the grace, the rest is stopped and handed back.
import type { Logger } from 'pino';
import type { Attempt } from './attempt.ts';

/** Resolves when nothing runs any more; attempts that outlast `graceMs` are stopped. */
export async function drainAttempts(
  running: ReadonlySet<Attempt>,
  graceMs: number,
  log: Logger,
): Promise<void> {
  if (running.size === 0) return;
  log.info({ running: running.size }, 'waiting for running jobs to finish');
  const grace = setTimeout(() => {
    log.warn({ running: running.size }, 'grace is over: stopping and handing back what still runs');
    for (const attempt of running) attempt.stop('shutdown');
  }, graceMs);
  try {
    await Promise.all([...running].map((attempt) => attempt.ended));
  } finally {
    clearTimeout(grace);
  }
}

// When a process is to stop: SIGTERM, SIGINT, its parent gone, or its own wish; and that it then does.

import type { Logger } from 'pino';

const PARENT_CHECK_MS = 1_000;
/** Ctrl-C reaches a child twice: from the terminal, and passed on by its parent. */
const SAME_KEYPRESS_MS = 500;

export interface StopRequest {
  /** Aborted when the process is to stop. */
  signal: AbortSignal;
  stop: (why: string) => void;
}

interface StopSettings {
  log: Logger;
  graceSecs: number;
  /** A direct parent without which the process has no purpose. */
  parentPid?: number | undefined;
}

/** Watches from now on. Once requested, the process is ended with 1 after the grace, or by a second signal. */
export function stopRequest({ log, graceSecs, parentPid }: StopSettings): StopRequest {
  const stopping = new AbortController();
  let since = 0;

  function stop(why: string): void {
    if (stopping.signal.aborted) return;
    since = performance.now();
    log.info({ why }, 'stopping');
    setTimeout(() => exit(`not stopped after ${graceSecs} s`), graceSecs * 1_000).unref();
    stopping.abort();
  }

  function exit(why: string): void {
    log.error(`${why}: exiting at once`);
    process.exit(1);
  }

  function onSignal(name: string): void {
    if (!stopping.signal.aborted) stop(name);
    else if (performance.now() - since > SAME_KEYPRESS_MS) exit(`second signal ${name}`);
  }

  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  if (parentPid !== undefined) {
    // The kernel gives an orphan another parent at once; asking for the pid itself would find a zombie alive.
    setInterval(() => process.ppid !== parentPid && stop('parent is gone'), PARENT_CHECK_MS).unref();
  }
  return { signal: stopping.signal, stop };
}

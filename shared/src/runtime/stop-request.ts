// When a process is to stop: SIGTERM, SIGINT, its parent gone, or its own wish; and that it then does.

import type { Logger } from 'pino';

const PARENT_CHECK_MS = 1_000;
/** Ctrl-C reaches a child twice: from the terminal, and passed on by its parent. */
const SAME_KEYPRESS_MS = 500;
/** From a second signal to the end of a process that has something to put in order. */
const FORCED_MS = 3_000;

export interface StopRequest {
  /** Aborted when the process is to stop. */
  signal: AbortSignal;
  stop: (why: string) => void;
  /** Called by a second signal: drops what the process waits for. Without it, the process ends at once. */
  force?: (() => void) | undefined;
  isForced: () => boolean;
}

interface StopSettings {
  log: Logger;
  graceSecs: number;
  /** A direct parent without which the process has no purpose. */
  parentPid?: number | undefined;
}

/**
 * Watches from now on. Once requested, the process is ended with 1 after the grace; by a second signal, or 3 s after that
 * if it has to `force` something; by a third.
 */
export function stopRequest({ log, graceSecs, parentPid }: StopSettings): StopRequest {
  const stopping = new AbortController();
  const request: StopRequest = { signal: stopping.signal, stop, isForced: () => isForced };
  let isForced = false;
  let since = 0;

  function stop(why: string): void {
    if (stopping.signal.aborted) return;
    since = performance.now();
    log.info({ why }, 'stopping');
    endIn(graceSecs * 1_000);
    stopping.abort();
  }

  function insist(why: string): void {
    if (isForced || !request.force) return exit(why);
    isForced = true;
    since = performance.now();
    log.warn(`${why}: giving up what still runs`);
    endIn(FORCED_MS);
    request.force();
  }

  function endIn(ms: number): void {
    setTimeout(() => exit(`not stopped after ${ms / 1_000} s`), ms).unref();
  }

  function exit(why: string): void {
    log.error(`${why}: exiting at once`);
    process.exit(1);
  }

  function onSignal(name: string): void {
    if (!stopping.signal.aborted) stop(name);
    else if (performance.now() - since > SAME_KEYPRESS_MS)
      insist(`${isForced ? 'third' : 'second'} signal ${name}`);
  }

  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  if (parentPid !== undefined) {
    // The kernel gives an orphan another parent at once; asking for the pid itself would find a zombie alive.
    setInterval(() => process.ppid !== parentPid && stop('parent is gone'), PARENT_CHECK_MS).unref();
  }
  return request;
}

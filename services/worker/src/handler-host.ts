// Keeps the handler host of one module alive: starts it, and another when it has died.
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryPause } from '@wfg/shared/rules/pause';
import { type HostLife, type HostSettings, startHostLife } from './host-life.ts';

/** A host that lived as long did not fail to start. */
const LASTING_MS = 10_000;
/** For a module that cannot be loaded: that is seldom mended without a new start of the worker. */
const LONGEST_PAUSE_MS = 60_000;

export interface HandlerHost extends AsyncDisposable {
  /** There may be due jobs. */
  look: () => void;
  /** Takes nothing more; resolves when nothing more can begin. */
  drain: () => Promise<void>;
  /** Gives up what it runs. */
  kill: () => void;
  /** The labels of what its module handles, as far as that is known. */
  labels: () => readonly string[];
  /** Why its handlers do not run as they should, for /ready. */
  reasons: () => string[];
}

/** `onLabels` is called when `labels` has changed. Disposal ends a host that runs nothing. */
export function keepHandlerHost(settings: HostSettings, onLabels: () => void): HandlerHost {
  const { file, log } = settings;
  const stopping = new AbortController();
  let life: HostLife | null = null;
  let labels: readonly string[] = [];
  /** Until the module is loaded. */
  let fault: string | null = 'being loaded';

  function onReady(loaded: readonly string[]): void {
    labels = loaded;
    fault = null;
    onLabels();
  }

  async function keepAlive(): Promise<void> {
    for (let failures = 1; !stopping.signal.aborted; failures++) {
      const startedAt = performance.now();
      life = startHostLife(settings, onReady);
      const reason = await life.ended;
      life = null;
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > LASTING_MS) failures = 1;
      const pauseMs = fault === null ? retryPause(failures) : retryPause(failures, LONGEST_PAUSE_MS);
      fault = reason;
      log.error({ file, reason, retry_ms: Math.round(pauseMs) }, 'no handlers: their host died');
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const ended = keepAlive();
  return {
    look: () => life?.look(),
    async drain() {
      stopping.abort();
      await life?.drain();
    },
    kill: () => life?.kill(),
    labels: () => labels,
    reasons() {
      const reasons = [...(fault === null ? [] : [fault]), ...(life?.problems() ?? [])];
      return reasons.map((reason) => `handlers ${basename(file)}: ${reason}`);
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await life?.close();
      await ended;
    },
  };
}

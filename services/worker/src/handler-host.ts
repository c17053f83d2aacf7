// Keeps the handler host of one module alive: starts it, and another when it has died.
import { relative } from 'node:path';
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

interface HandlerHostSettings extends HostSettings {
  /** Why it may not handle what its module does; null if it may. */
  refuse: (labels: readonly string[]) => string | null;
  /** Called when `labels` has changed. */
  onLabels: () => void;
}

/** Disposal ends a host that runs nothing. */
export function keepHandlerHost({ refuse, onLabels, ...settings }: HandlerHostSettings): HandlerHost {
  const { file, log } = settings;
  const stopping = new AbortController();
  let life: HostLife | null = null;
  let labels: readonly string[] = [];
  /** Until the module is loaded. */
  let fault: string | null = 'being loaded';

  function admit(loaded: readonly string[]): string | null {
    const refusal = refuse(loaded);
    if (refusal !== null) return refusal;
    labels = loaded;
    fault = null;
    onLabels();
    return null;
  }

  async function keepAlive(): Promise<void> {
    for (let failures = 1; !stopping.signal.aborted; failures++) {
      const startedAt = performance.now();
      life = startHostLife(settings, admit);
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
      return reasons.map((reason) => `handlers ${shortName(file)}: ${reason}`);
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await life?.close();
      await ended;
    },
  };
}

/** As whoever set WFG_MODULES is likely to have written it. */
function shortName(file: string): string {
  const name = relative('', file);
  return name.startsWith('..') ? file : name;
}

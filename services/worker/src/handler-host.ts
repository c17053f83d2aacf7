// Keeps the handler host of one module alive: starts it, and another when it has died, or when it runs what does not stop.
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryPause } from '@wfg/shared/rules/pause';
import { drainAttempts } from './drain-attempts.ts';
import type { Busy } from './pace.ts';
import type { Why } from './take-jobs.ts';
import { type HostLife, type HostSettings, startHostLife } from './host-life.ts';

/** A host that lived as long did not fail to start. */
const LASTING_MS = 10_000;
/** For a module that cannot be loaded: that is seldom mended without a new start of the worker. */
const LONGEST_PAUSE_MS = 60_000;

/** Whether a claimer that offers these labels is meant. */
export type Fits = (offered: readonly string[]) => boolean;

export interface HandlerHost extends AsyncDisposable {
  /** There may be due jobs, for those hosts whose labels fit. */
  look: (why: Why, fits?: Fits) => void;
  /** Somebody follows the logs of these jobs. */
  watch: (jobKeys: readonly string[]) => void;
  /** Takes nothing more; resolves when nothing more can begin. */
  drain: () => Promise<void>;
  /** Gives up what it runs. */
  kill: () => void;
  /** The labels of what its module handles, as far as that is known. */
  labels: () => readonly string[];
  /** Why its handlers do not run as they should, for /ready. */
  reasons: () => string[];
}

export interface HandlerHostSettings extends HostSettings {
  /** Why it may not handle what its module does; null if it may. */
  refuse: (labels: readonly string[]) => string | null;
  /** Offered besides what its module handles. */
  offered: readonly string[];
  /** Told of how busy the host is that takes these kinds. */
  tell: (kinds: readonly string[], busy: Busy) => void;
  /** Called when `labels` or `reasons` have changed. */
  onChange: () => void;
  /** For what runs beside something that does not stop. */
  graceMs: number;
  /** From being told to stop to having stopped. */
  killGraceMs: number;
}

/** Disposal ends a host that runs nothing. */
export function keepHandlerHost({
  refuse,
  onChange,
  offered,
  tell,
  ...settings
}: HandlerHostSettings): HandlerHost {
  const { file, log } = settings;
  const stopping = new AbortController();
  /** The one that looks for jobs. */
  let life: HostLife | null = null;
  /** With those that are retired, and those that are dead and not yet settled. */
  const lives = new Set<HostLife>();
  let labels: readonly string[] = [];
  /** Until the module is loaded. */
  let fault: string | null = 'being loaded';

  function admit(loaded: readonly string[]): string | null {
    const refusal = refuse(loaded);
    if (refusal !== null) return refusal;
    labels = loaded;
    fault = null;
    onChange();
    return null;
  }

  function begin(): HostLife {
    const begun = startHostLife(settings, admit, (busy) => {
      if (life === begun) tell(labels, busy);
    });
    lives.add(begun);
    void begun.settled.then(() => lives.delete(begun));
    return begun;
  }

  async function keepAlive(): Promise<void> {
    let retired: Promise<unknown> = Promise.resolve();
    for (let failures = 1; !stopping.signal.aborted; failures++) {
      const startedAt = performance.now();
      const current = begin();
      life = current;
      // One is retired at a time, so that there are never more than two.
      const deaf = current.deaf.then(() => retired).then(() => null);
      const reason = await Promise.race([current.died, deaf]);
      life = null;
      tell(labels, { hot: false, full: false });
      if (stopping.signal.aborted) return;
      if (reason === null) {
        retired = retire(current);
        failures = 0;
        continue;
      }
      if (performance.now() - startedAt > LASTING_MS) failures = 1;
      const pauseMs = fault === null ? retryPause(failures) : retryPause(failures, LONGEST_PAUSE_MS);
      fault = reason;
      onChange();
      log.error({ file, reason, retry_ms: Math.round(pauseMs) }, 'no handlers: their host died');
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  /** Only its end stops what does not stop when told to. What else it runs may finish, as at the end of a worker. */
  async function retire(old: HostLife): Promise<void> {
    log.warn({ file }, 'a handler does not stop: another host takes over, and this one ends');
    await drainAttempts({ ...settings, running: old.heeding, closed: old.drain(), giveUp: old.kill });
    await old.close();
  }

  const ended = keepAlive();
  return {
    look(why, fits = () => true) {
      if (fits([...labels, ...offered])) life?.look(why);
    },
    watch: (jobKeys) => lives.forEach((one) => one.watch(jobKeys)),
    async drain() {
      stopping.abort();
      await Promise.all(Array.from(lives, (one) => one.drain()));
    },
    kill: () => lives.forEach((one) => one.kill()),
    labels: () => labels,
    reasons() {
      const problems = Array.from(lives, (one) => one.problems()).flat();
      const reasons = [...(fault === null ? [] : [fault]), ...problems];
      return reasons.map((reason) => `handlers ${shortName(file)}: ${reason}`);
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all(Array.from(lives, (one) => one.close().then(() => one.settled)));
      await ended;
    },
  };
}

/** As whoever set WFG_MODULES is likely to have written it. */
function shortName(file: string): string {
  const name = relative('', file);
  return name.startsWith('..') ? file : name;
}

// Whether this worker can execute commands. When one could not be begun, for a full disk or a folder that is gone, the
// worker takes nothing more until a command of its own runs: a broken machine must not go through the whole queue.
import { retryPause } from '@wfg/shared/rules/pause';
import type { Logger } from 'pino';
import { type CommandSettings, runCommand } from './run-command.ts';
import { explainSpawnError } from './spawn-error.ts';

/** Needs all that a job may need. */
const PROBE = {
  runId: 'probe',
  workflowId: null,
  jobId: 'probe',
  attempt: 0,
  try: 1,
  env: {},
  run: 'true',
  steps: null,
  timeoutSecs: 10,
  upstream: { probe: { key: 'value' } },
  mask: [],
};

export interface Fitness {
  /** A job could not be begun. */
  fail: (fault: unknown) => void;
  /** A job was executed. */
  prove: () => void;
  /** How long not to claim, in milliseconds; 0 when fit. When a pause is over it tries a command of its own. */
  check: (signal: AbortSignal) => Promise<number>;
  /** Why nothing can be executed, for /ready; null if it can. */
  reason: () => string | null;
}

/** What it starts anew and tries is `command.spawner`. */
export function createFitness(command: CommandSettings, log: Logger): Fitness {
  let fault: { text: string; since: number; retryAt: number } | null = null;
  /** Since a job was executed. */
  let failures = 0;

  function note(error: unknown, now: number): number {
    const pauseMs = retryPause(++failures);
    fault = { text: explainSpawnError(error), since: fault?.since ?? now, retryAt: now + pauseMs };
    log.error(
      { err: error, retry_ms: Math.round(pauseMs) },
      'commands cannot be started: nothing is claimed',
    );
    return pauseMs;
  }

  return {
    fail(error) {
      // All that were begun together fail together.
      if (fault === null) note(error, performance.now());
    },
    prove() {
      failures = 0;
    },
    async check(signal) {
      if (fault === null) return 0;
      const leftMs = fault.retryAt - performance.now();
      if (leftMs > 0) return leftMs;
      command.spawner.renew();
      try {
        const { outcome, error } = await runCommand(PROBE, {
          ...command,
          signal,
          log: { write: () => undefined },
        });
        if (outcome !== 'completed') throw new Error(error ?? outcome);
      } catch (error) {
        return note(error, performance.now());
      }
      log.info('commands can be started again');
      fault = null;
      return 0;
    },
    reason() {
      if (fault === null) return null;
      const secs = Math.floor((performance.now() - fault.since) / 1000);
      return `commands: none can be started for ${secs} s: ${fault.text}`;
    },
  };
}

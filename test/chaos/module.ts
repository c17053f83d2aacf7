// The module of handlers and tasks that the suite's workers run: each does what its payload says, and writes when it
// begins and ends into the file that it is told.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineEvent, defineTask, z } from '@wfg/shared/sdk/sdk';
import { BACKOFF, BUDGET, HOPELESS_BUDGET } from './plan.ts';

const Work = z.object({ trail: z.string(), lines: z.int(), ms: z.int(), fails: z.int() });

interface Execution {
  run: string;
  job: string;
  attempt: number;
  tryNumber: number;
  log: Console;
  signal: AbortSignal;
}

async function work({ trail, lines, ms, fails }: z.output<typeof Work>, execution: Execution): Promise<void> {
  const { run, job, attempt, tryNumber, log, signal } = execution;
  const mark = (what: string) =>
    appendFileSync(trail, `${Date.now()} ${what} ${run} ${job} ${attempt} ${process.pid}\n`);
  mark('start');
  for (let line = 1; line <= lines; line++) {
    log.info(`line ${line}`);
    await sleep(ms / lines, undefined, { signal });
  }
  mark('end');
  if (tryNumber <= fails) throw new Error('it was to fail');
}

export const event = defineEvent({
  type: 'chaos.event',
  payload: Work,
  backoff: BACKOFF,
  handler: ({ payload, runId, jobId, ...execution }) =>
    work(payload, { ...execution, run: runId, job: jobId }),
});

const brief = (state: z.output<typeof Work>) => ({ ...state, ms: Math.min(state.ms, 100), fails: 0 });

/** Three steps, of which the second may fail at first; or the second and one that fails each time. */
export const task = defineTask({
  name: 'Chaos',
  states: { First: Work, Second: Work, Third: Work, Hopeless: Work },
  steps: {
    First: {
      async run({ state, next, taskId, ...execution }) {
        await work(brief(state), { ...execution, run: taskId, job: 'main' });
        return state.fails > BUDGET ? next.now('Hopeless', state) : next.now('Second', state);
      },
    },
    Second: {
      retryLimit: BUDGET - 1,
      retryDelaySecs: 0,
      async run({ state, next, taskId, ...execution }) {
        await work(state, { ...execution, run: taskId, job: 'main' });
        return next.after(0.1, 'Third', state);
      },
    },
    Third: {
      async run({ state, next, taskId, ...execution }) {
        await work(brief(state), { ...execution, run: taskId, job: 'main' });
        return next.done();
      },
    },
    Hopeless: {
      retryLimit: HOPELESS_BUDGET - 1,
      retryDelaySecs: 0,
      async run({ state, next, taskId, ...execution }) {
        await work(state, { ...execution, run: taskId, job: 'main' });
        return next.done();
      },
    },
  },
});

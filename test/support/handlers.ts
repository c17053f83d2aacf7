// Handlers for tests, that do what their payload says. Each writes what happens to it into a file, if one is named:
// lines `<what> <run id>.<attempt>`.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineEvent, type EventContext } from '@wfg/shared/sdk/define-event';

const Payload = z.object({
  /** Where to write what happens. */
  trail: z.string().optional(),
  /** A file to wait for. */
  gate: z.string().default(''),
  /** What to print or to throw. */
  text: z.string().default(''),
  times: z.number().default(1),
  outputs: z.record(z.string(), z.string()).default({}),
});

interface Context extends EventContext {
  note: (what: string) => void;
}

function define(
  type: string,
  act: (payload: z.output<typeof Payload>, context: Context) => unknown,
  options: Partial<Parameters<typeof defineEvent>[0]> = {},
) {
  return defineEvent({
    type,
    backoff: 'None',
    ...options,
    async handler(context) {
      const payload = Payload.parse(context.payload);
      const { trail } = payload;
      const note = (what: string) => {
        if (trail !== undefined) appendFileSync(trail, `${what} ${context.runId}.${context.attempt}\n`);
      };
      note('begin');
      context.signal.addEventListener('abort', () => note(`abort:${String(context.signal.reason.why)}`));
      await act(payload, { ...context, note });
      note('end');
    },
  });
}

/** Ends when the gate is open, or rejects with the signal's reason. */
async function waitAtGate({ gate }: { gate: string }, signal?: AbortSignal): Promise<void> {
  while (!existsSync(gate)) await sleep(20, undefined, { signal }).catch(() => signal?.throwIfAborted());
}

export const handlers = [
  define('test.wait', (payload, { signal }) => waitAtGate(payload, signal)),
  define('test.deaf', (payload) => waitAtGate(payload)),
  define('test.brief', (payload, { signal }) => waitAtGate(payload, signal), { timeoutSecs: 1 }),
  define('test.print', async ({ text, times, outputs }, { log, setOutput }) => {
    for (let index = 0; index < times; index++) {
      log.info(text, index);
      if (index % 10 === 0) await sleep(1);
    }
    for (const [name, value] of Object.entries(outputs)) setOutput(name, value);
  }),
  define('test.tell', async ({ text, gate }, { log, signal }) => {
    log.info(text);
    await waitAtGate({ gate }, signal);
  }),
  define('test.throw', ({ text }) => {
    throw new Error('it failed', { cause: new Error(text) });
  }),
  define('test.exit', () => process.exit(7)),
  define('test.disconnect', async ({ gate }) => {
    process.disconnect();
    await waitAtGate({ gate });
  }),
  define('test.throw-later', async ({ text, gate }) => {
    setTimeout(() => {
      throw new Error(text);
    }, 10);
    await waitAtGate({ gate });
  }),
  define('test.reject', async ({ text, gate }) => {
    void Promise.reject(new Error(text));
    await waitAtGate({ gate });
  }),
  define('test.spawn', async (payload, { note, signal }) => {
    note(`child ${spawn('sleep', ['600'], { stdio: 'ignore', detached: true }).pid}`);
    await waitAtGate(payload, signal);
  }),
  define('test.hoard', () => {
    const hoard: number[][] = [];
    for (;;) hoard.push(Array.from({ length: 10_000 }, (_, index) => index / 3));
  }),
  define('test.block', ({ gate }) => {
    while (!existsSync(gate));
  }),
];

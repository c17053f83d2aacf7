// Tasks for tests: pg_task's examples (the tutorial's greeter, the sleeper, the counter), and steps that misbehave.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineTask, unit, z } from '@wfg/shared/sdk/sdk';

export const greeter = defineTask({
  name: 'Greeter',
  states: { ReadName: z.object({ filename: z.string() }), SayHello: z.object({ name: z.string() }) },
  steps: {
    ReadName: {
      retryLimit: 5,
      run({ state, next }) {
        const name = readFileSync(state.filename, 'utf8').trim();
        return next.now('SayHello', { name });
      },
    },
    SayHello: {
      run({ state, next, log }) {
        log.info(`Hello, ${state.name}`);
        return next.done();
      },
    },
  },
});

/** Sleeps, and then writes its name into a file. */
export const sleeper = defineTask({
  name: 'Sleeper',
  states: {
    Sleep: z.object({ secs: z.number(), name: z.string(), file: z.string() }),
    Wakeup: z.object({ name: z.string(), file: z.string() }),
  },
  steps: {
    Sleep: { run: ({ state: { secs, ...rest }, next }) => next.after(secs, 'Wakeup', rest) },
    Wakeup: {
      run({ state, next }) {
        appendFileSync(state.file, `${state.name}\n`);
        return next.done();
      },
    },
  },
});

export const counter = defineTask({
  name: 'Counter',
  states: { Start: unit, Proceed: z.object({ up_to: z.number(), cur: z.number() }) },
  steps: {
    Start: { run: ({ next }) => next.now('Proceed', { up_to: 1000, cur: 0 }) },
    Proceed: {
      run: ({ state: { up_to, cur }, next }) =>
        cur === up_to ? next.done() : next.now('Proceed', { up_to, cur: cur + 1 }),
    },
  },
});

const Fault = z.object({
  /** Where to write that it has begun. */
  trail: z.string().optional(),
  /** A file to wait for. */
  gate: z.string().default(''),
  id: z.union([z.number(), z.bigint()]).optional(),
});

/** Each step does what it is called. */
export const faults = defineTask({
  name: 'Faults',
  states: {
    Hop: Fault,
    Wait: Fault,
    Throw: Fault,
    ThrowLater: Fault,
    Exit: Fault,
    Block: Fault,
    Forget: Fault,
    Misfit: Fault,
    Vanish: z.any(),
    Far: Fault,
    Open: Fault,
    Echo: Fault,
  },
  steps: {
    Hop: { run: ({ state, next }) => next.now('Wait', state) },
    Wait: {
      async run({ state, next, signal, attempt }) {
        if (state.trail !== undefined) appendFileSync(state.trail, `begin ${attempt}\n`);
        while (!existsSync(state.gate)) await sleep(20, undefined, { signal });
        return next.done();
      },
    },
    Throw: {
      retryLimit: 1,
      retryDelaySecs: 0,
      run() {
        throw new Error('it failed', { cause: new Error('why') });
      },
    },
    ThrowLater: {
      async run({ next }) {
        setTimeout(() => {
          throw new Error('thrown later');
        }, 10);
        await sleep(60_000);
        return next.done();
      },
    },
    Exit: { run: () => process.exit(7) },
    Block: {
      run({ state, next, attempt }) {
        if (state.trail !== undefined) appendFileSync(state.trail, `begin ${attempt}\n`);
        while (!existsSync(state.gate));
        return next.done();
      },
    },
    Forget: { run: () => JSON.parse('null') },
    Open: {
      run({ state, next }) {
        if (!existsSync(state.gate)) throw new Error('the gate is closed');
        return next.done();
      },
    },
    Misfit: { retryLimit: 5, run: ({ next }) => Reflect.apply(next.now, undefined, ['Wait', { gate: 3 }]) },
    Vanish: { run: ({ next }) => next.now('Vanish', () => 'no JSON') },
    Far: { run: ({ state, next }) => next.at(new Date(8.64e15), 'Wait', state) },
    Echo: { run: ({ state, next }) => next.after(3600, 'Wait', { id: state.id }) },
  },
});

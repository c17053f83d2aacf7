// How a module says what a task is: a state machine of steps, each of which returns what comes next.
import { z } from 'zod';
import { WorkflowType } from '../contract/event.ts';
import { check } from '../rules/issues.ts';
import { createNext, type Next, type Onward } from './next-step.ts';
import type { States } from './step-json.ts';

/** The state of a step without fields. */
export const unit = z.null();

/** What a step is called with, once for each try. */
export interface StepContext<S extends States, K extends keyof S> {
  /** What the step before it, or whoever started the task, handed over. Integers beyond 2^53 are bigints. */
  state: z.output<S[K]>;
  /** Makes the value that a step returns. */
  next: Next<S>;
  /** Counts from 1, anew in each step. */
  tryNumber: number;
  /** One more than the step's retryLimit. */
  maxAttempts: number;
  /** What is printed on it becomes the log of this try, and goes nowhere else. */
  log: Console;
  /** Aborted when the step must stop; what it returns later does not count. */
  signal: AbortSignal;
  /** The task's id. */
  taskId: string;
  /** Counts from 0, and never repeats for a task. */
  attempt: number;
}

export interface StepOptions<S extends States, K extends keyof S> {
  /** Tries beyond the first; 0. */
  retryLimit?: number;
  /** The wait before each of them, in seconds; 1. */
  retryDelaySecs?: number;
  /** Of one try, in seconds; without it there is no limit. */
  timeoutSecs?: number;
  /** Returns what comes next; what it throws is a failed try. It may run again after a crash, so it must bear that. */
  run: (context: StepContext<S, K>) => Onward | Promise<Onward>;
}

export interface TaskOptions<S extends States> {
  name: string;
  /**
   * What each step begins with, as a schema of zod; `unit` for a step without fields. A state is JSON in between, so the
   * schema must take what JSON gives back: `z.coerce.date()` for a date, `z.bigint()` for integers beyond 2^53. A step's
   * name has 1 to 255 characters, none of them a control character.
   */
  states: S;
  steps: { [K in keyof S]: StepOptions<S, K> };
}

const DEFINITION: unique symbol = Symbol.for('wfg.task');

/** One step, as the host executes it. */
export interface StepDefinition {
  maxAttempts: number;
  retryDelaySecs: number;
  /** Null: no limit. */
  timeoutSecs: number | null;
  run: (context: StepCall) => unknown;
}

/** What the host brings; `next` is added here. */
export type StepCall = Omit<StepContext<States, string>, 'next'>;

export interface TaskDefinition<S extends States = States> {
  [DEFINITION]: true;
  name: string;
  states: S;
  steps: ReadonlyMap<string, StepDefinition>;
}

const whole = (most: number) => z.int().min(0).max(most);
const Step = z.strictObject({
  retryLimit: whole(1_000).default(0),
  retryDelaySecs: whole(1_000_000_000).default(1),
  timeoutSecs: whole(1_000_000_000).min(1).optional(),
  run: z.custom<(context: unknown) => unknown>((value) => typeof value === 'function', 'must be a function'),
});
const Options = z.strictObject({
  name: WorkflowType,
  states: z.record(
    WorkflowType,
    z.custom<z.ZodType>((value) => value instanceof z.ZodType, 'must be a schema of zod, or unit'),
  ),
  steps: z.record(z.string(), Step),
});

/**
 * Defines a task; to be exported by the module. `states` says what each step begins with, `steps` what each does. The
 * name and the steps' names are stored with every task that goes on: rename none while such are there.
 *
 * @throws {TypeError} saying what is wrong with the definition.
 */
export function defineTask<const S extends States>(options: TaskOptions<S>): TaskDefinition<S> {
  const { data, issues } = check(Options, options);
  if (issues) {
    const faults = issues.map(({ path, message }) => `${path} ${message}`);
    throw new TypeError(`defineTask: ${faults.join('; ')}`);
  }
  const { name, states, steps } = data;
  for (const step of Object.keys(states))
    if (!Object.hasOwn(steps, step))
      throw new TypeError(`defineTask: steps.${step} is missing: states has it`);
  for (const step of Object.keys(steps))
    if (!Object.hasOwn(states, step))
      throw new TypeError(`defineTask: states.${step} is missing: steps has it`);
  if (Object.keys(steps).length === 0) throw new TypeError('defineTask: a task needs a step');
  const next = createNext(name, states);
  const defined = Object.entries(steps).map(([step, { retryLimit, retryDelaySecs, timeoutSecs, run }]) => {
    const definition: StepDefinition = {
      maxAttempts: retryLimit + 1,
      retryDelaySecs,
      timeoutSecs: timeoutSecs ?? null,
      run: (call) => run({ ...call, next }),
    };
    return [step, definition] as const;
  });
  return { [DEFINITION]: true, name, states: options.states, steps: new Map(defined) };
}

export function isTaskDefinition(value: unknown): value is TaskDefinition {
  return typeof value === 'object' && value !== null && DEFINITION in value;
}

// A step as it is stored: `{"<Task>":{"<Step>":<state>}}`, with null as the state of a step without fields.
import type { z } from 'zod';
import { check } from '../rules/issues.ts';
import { findings, toJson, withBigints } from './json-value.ts';

/** What each step begins with, as a schema. */
export type States = Readonly<Record<string, z.ZodType>>;

/** A step that cannot be written or read: another try would not help. */
export class StepError extends Error {}

/** A step that this version of the task does not have. */
export class UnknownStepError extends StepError {
  constructor(task: string, states: States, step: string) {
    super(`task ${task} has no step ${step}: it has ${Object.keys(states).sort().join(', ')}`);
  }
}

/**
 * The step as JSON.
 *
 * @throws {StepError} when there is no such step, its state does not fit, or JSON cannot hold it.
 */
export function encodeStep(task: string, states: States, step: string, state: unknown): unknown {
  checkedState(task, states, step, state);
  try {
    return { [task]: { [step]: toJson(state) } };
  } catch (error) {
    throw new StepError(`the state of step ${step} of task ${task} is no JSON: ${String(error)}`);
  }
}

/**
 * The step's name and its state as its schema makes it, from JSON.
 *
 * @throws {StepError} when it is not a step of this task.
 */
export function decodeStep(task: string, states: States, payload: unknown): { step: string; state: unknown } {
  const steps = Object(payload)[task];
  const [entry, ...more] = Object.entries(Object(steps));
  if (!entry || more.length > 0) throw new StepError('the step is not {"<Task>":{"<Step>":<state>}}');
  const [step, stored] = entry;
  return { step, state: checkedState(task, states, step, withBigints(stored)) };
}

function checkedState(task: string, states: States, step: string, state: unknown): unknown {
  const schema = Object.hasOwn(states, step) ? states[step] : undefined;
  if (!schema) throw new UnknownStepError(task, states, step);
  const { data, issues } = check(schema, state);
  if (!issues) return data;
  throw new StepError(`the state does not fit step ${step} of task ${task}: ${findings(issues)}`);
}

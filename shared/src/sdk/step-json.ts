// A step as it is stored: `{"<Task>":{"<Step>":<state>}}`, with null as the state of a step without fields.
import type { z } from 'zod';
import { findings, fromJson, misfit, toJson } from './json-value.ts';

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
 * @throws {StepError} when there is no such step, JSON cannot hold its state, or it does not fit, or not any more when it
 * comes back.
 */
export function encodeStep(task: string, states: States, step: string, state: unknown): unknown {
  const schema = schemaOf(task, states, step);
  const json = stateJson(task, step, state);
  const fault = misfit(schema, state, json);
  if (fault !== null) throw new StepError(`the state does not fit step ${step} of task ${task}: ${fault}`);
  return { [task]: { [step]: json } };
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
  const { data, issues } = fromJson(schemaOf(task, states, step), stored);
  if (!issues) return { step, state: data };
  throw new StepError(`the state does not fit step ${step} of task ${task}: ${findings(issues)}`);
}

function stateJson(task: string, step: string, state: unknown): unknown {
  try {
    return toJson(state, 2);
  } catch (error) {
    throw new StepError(`the state of step ${step} of task ${task} is no JSON: ${String(error)}`);
  }
}

function schemaOf(task: string, states: States, step: string): z.ZodType {
  const schema = Object.hasOwn(states, step) ? states[step] : undefined;
  if (!schema) throw new UnknownStepError(task, states, step);
  return schema;
}

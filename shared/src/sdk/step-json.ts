// A step as it is stored: `{"<Task>":{"<Step>":<state>}}`, with null as the state of a step without fields.
import type { z } from 'zod';
import { parseJson } from '../contract/json.ts';
import { check } from '../rules/issues.ts';

/** What each step begins with, as a schema. */
export type States = Readonly<Record<string, z.ZodType>>;

/** A step that cannot be written or read: another try would not help. */
export class StepError extends Error {}

/**
 * The step as JSON.
 *
 * @throws {StepError} when there is no such step, its state does not fit, or JSON cannot hold it.
 */
export function encodeStep(task: string, states: States, step: string, state: unknown): unknown {
  checkedState(task, states, step, state);
  try {
    const text = JSON.stringify({ [task]: { [step]: state } }, (_, value: unknown) =>
      typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
    );
    return parseJson(text);
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
  if (!schema) {
    const known = Object.keys(states).sort().join(', ');
    throw new StepError(`task ${task} has no step ${step}: it has ${known}`);
  }
  const { data, issues } = check(schema, state);
  if (!issues) return data;
  const faults = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  throw new StepError(`the state does not fit step ${step} of task ${task}: ${faults.join('; ')}`);
}

/** Integers beyond 2^53 keep their digits. */
function withBigints(value: unknown): unknown {
  if (JSON.isRawJSON(value)) return BigInt(JSON.stringify(value));
  if (Array.isArray(value)) return value.map(withBigints);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withBigints(inner)]));
}

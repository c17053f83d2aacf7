// What a step hands on: what would not fit when it comes back fails the step that returned it.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseJson, toStorableJson } from '../contract/json.ts';
import { defineEvent } from './define-event.ts';
import { defineTask } from './define-task.ts';
import { decodePayload, encodePayload, PayloadError } from './event-payload.ts';
import { decodeStep, encodeStep, StepError } from './step-json.ts';

const stored = (value: unknown) => parseJson(toStorableJson(value));

/** What the next step gets, and the handler of an event with this schema. */
function passed(schema: z.ZodType, value: unknown): unknown {
  const states = { S: schema };
  const { state } = decodeStep('T', states, stored(encodeStep('T', states, 'S', value)));
  const event = defineEvent({ type: 't', payload: schema, handler() {} });
  expect(decodePayload(event, stored(encodePayload(event, value)))).toEqual(state);
  return state;
}

test.for<[z.ZodType, unknown, unknown]>([
  [z.bigint(), 5n, 5n],
  [z.bigint(), 2n ** 64n, 2n ** 64n],
  [z.object({ id: z.bigint(), n: z.number() }), { id: -5n, n: 5 }, { id: -5n, n: 5 }],
  [z.array(z.union([z.bigint(), z.string()])), [1n, 'a'], [1n, 'a']],
  [z.union([z.number(), z.bigint()]), 5n, 5],
  [z.record(z.string(), z.bigint().nullable()), { 'a.b': 7n, c: null }, { 'a.b': 7n, c: null }],
  [z.coerce.date(), new Date(0), new Date(0)],
  [z.object({ a: z.string().optional() }), { a: undefined }, {}],
  [z.string(), 'nul \0', 'nul \u2400'],
  [z.number(), 1e300, 1e300],
])('%#: it comes back', ([schema, value, back]) => {
  expect(passed(schema, value)).toEqual(back);
});

test.for<[z.ZodType, unknown, string]>([
  [z.object({ at: z.date() }), { at: new Date(0) }, 'at: Invalid input: expected date, received string'],
  [z.map(z.string(), z.number()), new Map([['a', 1]]), 'expected map, received'],
  [z.object({ n: z.number() }), { n: 2 ** 60 }, 'n: must be a number: JSON gives it back so'],
  [z.string().regex(/^[^\u2400]*$/), 'nul \0', 'JSON gives it back so'],
])('%#: what would not come back is refused before it is stored', ([schema, value, message]) => {
  expect(schema.safeParse(value).success).toBe(true);
  expect(() => encodeStep('T', { S: schema }, 'S', value)).toThrow(StepError);
  expect(() => encodeStep('T', { S: schema }, 'S', value)).toThrow(message);
  const event = defineEvent({ type: 't', payload: schema, handler() {} });
  expect(() => encodePayload(event, value)).toThrow(PayloadError);
});

function nested(levels: number): unknown {
  return levels === 1 ? 1 : [nested(levels - 1)];
}

const encode = (levels: number) => encodeStep('T', { S: z.unknown() }, 'S', nested(levels));

test('a state lies below its task and its step, 1000 levels in all', () => {
  expect(() => encode(998)).not.toThrow();
  expect(() => encode(999)).toThrow('the state of step S of task T is no JSON');
  expect(() => encode(999)).toThrow('nested more than 1000 levels deep');
});

const run = () => {
  throw new Error('never called');
};

test.for(['', 'a\0b', 'a\nb', 'x'.repeat(256), '\ud800'])('%j is no name of a step', (step) => {
  expect(() => defineTask({ name: 'T', states: { [step]: z.null() }, steps: { [step]: { run } } })).toThrow(
    `states.${step} must be 1 to 255 characters, none of them a control character`,
  );
});

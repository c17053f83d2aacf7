// What compiles in a module, and what must not: tsc checks this file, and fails where a line said to be wrong is not.
import type { Pool, PoolClient } from 'pg';
import { expect, expectTypeOf, test } from 'vitest';
import { defineEvent, defineTask, enqueue, type EventContext, type Next, startTask, unit, z } from './sdk.ts';

const states = {
  Ask: z.object({ question: z.string(), times: z.number().default(1) }),
  Tell: z.object({ id: z.union([z.number(), z.bigint()]) }),
  Rest: unit,
};
const rest = { run: ({ next }: { next: Next<typeof states> }) => next.done() };

const quiz = defineTask({
  name: 'Quiz',
  states,
  steps: {
    Ask: {
      retryLimit: 3,
      run({ state, next }) {
        expectTypeOf(state).toEqualTypeOf<{ question: string; times: number }>();
        return next.now('Tell', { id: 12345678901234567890n });
      },
    },
    Tell: {
      async run({ state, next }) {
        expectTypeOf(state.id).toEqualTypeOf<number | bigint>();
        return next.after(3, 'Rest');
      },
    },
    Rest: {
      run({ state, next }) {
        expectTypeOf(state).toEqualTypeOf<null>();
        return next.at(new Date(), 'Ask', { question: 'why?' });
      },
    },
  },
});

/** Never called: none of it is right. */
export function nextSteps(next: Next<typeof states>) {
  // @ts-expect-error there is no such step
  next.now('Nowhere');
  // @ts-expect-error its state is missing
  next.now('Ask');
  // @ts-expect-error its state is of another shape
  next.now('Ask', { question: 7 });
  // @ts-expect-error its state has no such field
  next.after(1, 'Tell', { id: 1, other: 2 });
  // @ts-expect-error it is a step without fields
  next.now('Rest', { id: 1 });
  // @ts-expect-error a delay is a number of seconds
  next.after('3 s', 'Rest');
  // @ts-expect-error a time is a Date
  next.at('tomorrow', 'Rest');
}

export function steps() {
  const name = 'Quiz';
  const Rest = rest;
  // @ts-expect-error the step Tell is missing
  defineTask({ name, states, steps: { Ask: rest, Rest } });
  const more = { Ask: rest, Tell: rest, Rest };
  // @ts-expect-error the step More has no state
  defineTask({ name, states, steps: { ...more, More: rest } });
  const one = { name, states: { Rest: unit } };
  // @ts-expect-error it returns nothing
  defineTask({ ...one, steps: { Rest: { run() {} } } });
  // @ts-expect-error it forgets to return what it makes
  defineTask({ ...one, steps: { Rest: { run: async ({ next }) => void next.done() } } });
  // @ts-expect-error what it returns is not made by next
  defineTask({ ...one, steps: { Rest: { run: () => 'done' } } });
  // @ts-expect-error there is no such option
  defineTask({ ...one, steps: { Rest: { ...rest, retries: 3 } } });
}

/** As other clients of PostgreSQL can be made to look. */
interface Plain {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[]; rowCount: number }>;
}

export async function starts(pool: Pool, client: PoolClient, plain: Plain) {
  await startTask(plain, quiz, { step: 'Rest' });
  await startTask(pool, quiz, { step: 'Ask', state: { question: 'why?' } });
  await startTask(client, quiz, { step: 'Rest', afterSecs: 3 });
  // @ts-expect-error there is no such step
  await startTask(pool, quiz, { step: 'Nowhere' });
  // @ts-expect-error its state is missing
  await startTask(pool, quiz, { step: 'Ask' });
  // @ts-expect-error its state is of another shape
  await startTask(pool, quiz, { step: 'Ask', state: { question: 7 } });
  // @ts-expect-error it is a step without fields
  await startTask(pool, quiz, { step: 'Rest', state: { id: 1 } });
}

export async function events(pool: Pool, client: PoolClient, plain: Plain) {
  const payload = z.object({ amount: z.number(), currency: z.string().default('EUR') });
  defineEvent({
    type: 'paid',
    payload,
    handler(context) {
      expectTypeOf(context).toEqualTypeOf<EventContext<{ amount: number; currency: string }>>();
      // @ts-expect-error there is no such field
      return context.payload.amounts;
    },
  });
  const paid = defineEvent({ type: 'paid', payload, handler() {} });
  await enqueue(pool, paid, { amount: 3 }, { maxAttempts: 5, at: new Date() });
  await enqueue(client, paid, { amount: 3, currency: 'CHF' });
  await enqueue(plain, 'paid', { anything: ['goes'] });
  // @ts-expect-error it has no amount
  await enqueue(pool, paid, {});
  // @ts-expect-error its amount is no number
  await enqueue(pool, paid, { amount: '3' });
  // @ts-expect-error there is no such option
  await enqueue(pool, paid, { amount: 3 }, { tries: 5 });
  // @ts-expect-error a connection has a query that takes text and values
  await enqueue({ execute: plain }, paid, { amount: 3 });
  // @ts-expect-error it is a schema that says what a payload is
  defineEvent({ type: 'paid', payload: { amount: 1 }, handler() {} });
  // @ts-expect-error there is no handler
  defineEvent({ type: 'paid', payload });
  // @ts-expect-error there is no such form
  defineEvent({ type: 'paid', handler() {}, backoff: { Linear: { delay_secs: 1 } } });
}

test('a payload without a schema is unknown, and one with a schema what it says', () => {
  const one = defineEvent({
    type: 'paid',
    handler: ({ payload }) => expectTypeOf(payload).toEqualTypeOf<unknown>(),
  });
  const two = defineEvent({ type: 'paid', payload: z.object({ amount: z.number() }), handler() {} });
  expectTypeOf(two.payload).toEqualTypeOf<z.ZodObject<{ amount: z.ZodNumber }> | null>();
  expect([one.payload, two.payload]).toEqual([null, expect.any(z.ZodObject)]);
});

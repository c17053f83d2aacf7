// What TypeScript programs enqueue and start, on connections of their own.
import { defineEvent, enqueue, PayloadError, startTask, StepError, z } from '@wfg/shared/sdk/sdk';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { greeter } from '../support/tasks.ts';

const paid = defineEvent({
  type: 'paid',
  payload: z.object({ amount: z.union([z.number(), z.bigint()]), currency: z.string().default('EUR') }),
  handler() {},
});

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

async function rowOf(id: string) {
  const { rows } = await db.pool.query<Record<string, unknown>>(
    `select kind, workflow_type, payload::text, max_attempts, priority, run_at > wfg_now() + interval '1 day' as later
     from wfg_jobs where run_id = $1`,
    [id],
  );
  return rows[0];
}

async function inTransaction<T>(
  end: 'commit' | 'rollback',
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    const made = await work(client);
    await client.query(end);
    return made;
  } finally {
    client.release();
  }
}

test('an event is stored as it was given, with what was asked for', async () => {
  const at = new Date(Date.now() + 7 * 86_400_000);
  const payload = { amount: 12345678901234567890n };
  expect(await rowOf(await enqueue(db.pool, paid, payload, { at, maxAttempts: 5, priority: 7 }))).toEqual({
    kind: 'event',
    workflow_type: 'paid',
    payload: '{"amount":12345678901234567890}',
    max_attempts: 5,
    priority: 7,
    later: true,
  });
  expect(await rowOf(await enqueue(db.pool, 'other', ['nul \0']))).toMatchObject({
    workflow_type: 'other',
    payload: '["nul \u2400"]',
    max_attempts: 3,
    priority: 0,
    later: false,
  });
});

async function make(client: PoolClient): Promise<string[]> {
  return [
    await enqueue(client, paid, { amount: 1 }),
    await startTask(client, greeter, { step: 'SayHello', state: { name: 'World' } }),
  ];
}

test('both are there when the transaction commits, and not when it is rolled back', async () => {
  for (const id of await inTransaction('rollback', make)) expect(await rowOf(id)).toBeUndefined();
  const kinds = await Promise.all(
    (await inTransaction('commit', make)).map(async (id) => (await rowOf(id))?.kind),
  );
  expect(kinds).toEqual(['event', 'task']);
});

test('the same key enqueues once', async () => {
  const options = { idempotencyKey: 'order-17' };
  const id = await enqueue(db.pool, paid, { amount: 17 }, options);
  expect(await enqueue(db.pool, paid, { amount: 17 }, options)).toBe(id);
  await expect(enqueue(db.pool, paid, { amount: 18 }, options)).rejects.toMatchObject({ code: 'WF004' });
});

test('what does not fit is refused before the database is asked', async () => {
  const none = { query: () => Promise.reject(new Error('asked')) };
  const wrong: unknown = { amount: '17' };
  await expect(Reflect.apply(enqueue, undefined, [none, paid, wrong])).rejects.toThrow(PayloadError);
  const step = { step: 'SayHello', state: { name: 17 } };
  await expect(Reflect.apply(startTask, undefined, [none, greeter, step])).rejects.toThrow(StepError);
  await expect(enqueue(none, 'other', () => 1)).rejects.toThrow('function is no JSON');
});

// What the sentinel rings for, and whom it means.
import { createDoorbell, type Doorbell } from '@wfg/shared/db/doorbell';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lookAround } from '../../services/scheduler/src/sentinel.ts';
import { type Ear, listener } from '../support/ear.ts';
import { enqueue } from '../support/engine.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

const SECOND_MS = 1_000;

let db: TestDatabase;
let ear: Ear;
let doorbell: Doorbell;

beforeEach(async () => {
  db = await testDatabase();
  ear = await listener(db.url);
  doorbell = createDoorbell(db.pool, pino({ level: 'silent' }));
  await db.pool.query(
    `insert into wfg_workers (worker_id, instance, concurrency, handlers)
     values ('w1', gen_random_uuid(), 1, '{new,old}')`,
  );
});

afterEach(async () => {
  await doorbell[Symbol.asyncDispose]();
  await ear[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const NOTHING = { advance: () => undefined, fire: () => undefined, operate: () => undefined };

/** The labels of each bell for lanes that one look of the sentinel rings, with whether few are meant. */
async function rung() {
  await lookAround(db.pool, doorbell, NOTHING);
  await doorbell.flush();
  doorbell.ring({ beat: true });
  await waitFor('all of it', () => ear.bells.some(({ beat }) => beat));
  return ear.bells
    .splice(0)
    .filter(({ lanes }) => lanes)
    .map(({ requires, nonce }) => [Object.values(requires ?? {}).flat(), nonce !== undefined]);
}

test('for what came due few look, and for what nobody took everyone', async () => {
  await enqueue(db.pool, 'new');
  await enqueue(db.pool, 'old', { run_at: new Date(Date.now() - 60 * SECOND_MS) });
  expect(await rung()).toEqual([
    [[':event new'], true],
    [[':event old'], false],
  ]);
});

test('for what no worker offers nothing is rung', async () => {
  await enqueue(db.pool, 'nobody');
  expect(await rung()).toEqual([]);
  await db.pool.query(`update wfg_workers set handlers = '{nobody}'`);
  expect(await rung()).toHaveLength(1);
});

// Bells of logs: none of what nobody follows, and for who begins to follow it at once what was not rung.
import { jobKey } from '@wfg/shared/contract/job-key';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogSink } from '../../../services/worker/src/log-sink.ts';
import { type Ear, listener } from '../../support/ear.ts';
import { claim, submit } from '../../support/engine.ts';
import { enqueue } from '../../support/events.ts';
import { newGate } from '../../support/gate.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, ring, startHandlerWorker } from '../../support/worker.ts';

const log = pino({ level: 'silent' });
const day = new Date().toISOString().slice(0, 10);

let db: TestDatabase;
let ear: Ear;

beforeAll(async () => {
  db = await testDatabase();
  ear = await listener(db.url);
});

afterAll(async () => {
  await ear[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const rungFor = (key: string) => ear.bells.filter(({ logs }) => logs?.includes(key)).length;
const watch = (...keys: string[]) => ring(db.pool, JSON.stringify({ v: 1, watch: keys }));

/** What a process has rung so far has been heard when this is. */
async function heardAll(pool: Pool): Promise<void> {
  const mark = crypto.randomUUID();
  await ring(pool, JSON.stringify({ v: 1, runs: [mark] }));
  await waitFor('the mark', () => ear.bells.some(({ runs }) => runs?.includes(mark)));
}

const stored = async (run: string) => {
  const { rows } = await db.pool.query('select from wfg_logs where run_id = $1', [run]);
  return rows.length;
};

test('a sink rings for what is followed, and at once for what it has not told', async () => {
  const run = await submit(db.pool, { a: {}, b: {} });
  const [a, b] = await claim(db.pool, { limit: 2 });
  if (!a || !b) throw new Error('nothing to claim');
  await using doorbell = createDoorbell(db.pool, log);
  await using sink = createLogSink(db.pool, doorbell, log);
  const logs = [a, b].map((job) => sink.open(job, day, () => undefined));
  let line = 0;
  async function print(): Promise<void> {
    line++;
    const chunk = { stream: 'stdout' as const, line, lines: line, bytes: line, at: new Date(), data: '\n' };
    await Promise.all(logs.map((one) => one.write(chunk)));
    await waitFor('both lines', async () => (await stored(run)) === 2 * line);
    await doorbell.flush();
    await heardAll(db.pool);
  }

  await print();
  expect([rungFor(jobKey(a)), rungFor(jobKey(b))]).toEqual([0, 0]);
  sink.watch([jobKey(a)]);
  sink.watch([jobKey(a)]);
  await doorbell.flush();
  await heardAll(db.pool);
  expect([rungFor(jobKey(a)), rungFor(jobKey(b))]).toEqual([1, 0]);
  await print();
  await print();
  expect([rungFor(jobKey(a)), rungFor(jobKey(b))]).toEqual([3, 0]);
  await Promise.all(logs.map((one) => one.close()));
});

test('a worker and its handler hosts hear what is followed', async () => {
  const [first, second] = [newGate(), newGate()];
  const run = await submit(db.pool, { a: { run: `echo 1; ${first.wait}; echo 2; ${second.wait}; echo 3` } });
  await using _ = startHandlerWorker(db.url);
  const key = jobKey({ run_id: run, position: 1 });
  await waitFor('the first line', async () => (await stored(run)) === 1);
  await heardAll(db.pool);
  expect(rungFor(key)).toBe(0);
  await watch(key);
  await waitFor('the first line to be rung', () => rungFor(key) === 1);
  await first.open();
  await waitFor('the second line to be rung', () => rungFor(key) === 2);
  await second.open();
  await jobWhen(db.pool, run, 'a', ({ state }) => state === 'completed');

  const gate = newGate();
  const event = await enqueue(db.pool, 'test.tell', { gate: gate.path, text: 'something' });
  const eventKey = jobKey({ run_id: event, position: 0 });
  await waitFor('what it tells', async () => (await stored(event)) > 0);
  await heardAll(db.pool);
  expect(rungFor(eventKey)).toBe(0);
  await watch(eventKey);
  await waitFor('it to be rung', () => rungFor(eventKey) === 1);
  await gate.open();
});

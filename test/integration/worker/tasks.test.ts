// What a worker makes of tasks: steps one after another, tries, parking, faults, stopping.
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { declareHandlers } from '@wfg/shared/queries/handlers';
import { startTask } from '@wfg/shared/sdk/sdk';
import { listener } from '../../support/ear.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import type { TestProcess } from '../../support/process.ts';
import { counter, faults, greeter } from '../../support/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';
import { reasonsOf, startHandlerWorker } from '../../support/worker.ts';

const TASKS = fileURLToPath(new URL('../../support/tasks.ts', import.meta.url));

let db: TestDatabase;
let worker: TestProcess;

beforeAll(async () => {
  db = await testDatabase();
  worker = startHandlerWorker(db.url, {}, [TASKS]);
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

interface Row {
  id: string;
  step: string;
  tried: number;
  is_running: boolean;
  error: string | null;
}

const path = (name: string) => join(inject('runFolder'), `${randomUUID()}-${name}`);

async function rowOf(id: string): Promise<Row | undefined> {
  const { rows } = await db.pool.query<Row>(
    'select id, step, tried, is_running, error from pg_task where id = $1',
    [id],
  );
  return rows[0];
}

const rowWhen = (id: string, ok: (row: Row) => boolean) =>
  waitFor(`task ${id}: ${String(ok)}`, async () => {
    const row = await rowOf(id);
    if (row && !ok(row)) throw new Error(JSON.stringify(row));
    return row;
  });

const gone = (id: string) => waitFor(`task ${id} to be gone`, async () => (await rowOf(id)) === undefined);

async function insert(step: string): Promise<string> {
  const { rows } = await db.pool.query<Row>('insert into pg_task (step) values ($1) returning id', [step]);
  return rows[0]?.id ?? '';
}

async function attemptsOf(id: string) {
  const { rows } = await db.pool.query<{ step: string; try: number; outcome: string; error: string | null }>(
    `select step, try, outcome, error from wfg_attempts where run_id = $1 union all
     select step, tries, outcome, error from wfg_history where run_id = $1`,
    [id],
  );
  return rows;
}

test('130: a task goes from step to step until it is done, and its row is gone', async () => {
  const filename = path('name.txt');
  await writeFile(filename, 'World\n');
  const id = await startTask(db.pool, greeter, { step: 'ReadName', state: { filename } });
  await gone(id);
  expect(await attemptsOf(id)).toMatchObject([
    { step: 'ReadName', try: 1, outcome: 'completed' },
    { step: 'SayHello', try: 1, outcome: 'completed' },
  ]);
});

test('129: a step without fields is stored with null', async () => {
  const id = await startTask(db.pool, counter, { step: 'Start', afterSecs: 3_600 });
  expect((await rowOf(id))?.step).toBe('{"Counter":{"Start":null}}');
  await db.pool.query('delete from pg_task where id = $1', [id]);
});

test('131: a step that says nothing has one try, and a second between tries', async () => {
  const { rows } = await db.pool.query(
    `select step, max_attempts, backoff from wfg_handlers where workflow_type = 'Greeter' order by step`,
  );
  const backoff = { Fixed: { delay_secs: 1 } };
  expect(rows).toEqual([
    { step: 'ReadName', max_attempts: 6, backoff },
    { step: 'SayHello', max_attempts: 1, backoff },
  ]);
});

test('a chain of steps wakes nobody but the worker that goes on with it', async () => {
  await using ear = await listener(db.url);
  const id = await startTask(db.pool, counter, { step: 'Proceed', state: { up_to: 100, cur: 0 } });
  await waitFor('it to end', async () => (await rowOf(id)) === undefined, 50_000);
  expect(await attemptsOf(id)).toHaveLength(101);
  await waitFor('what is rung for its viewers', () => ear.bells.some(({ runs }) => runs?.includes(id)));
  const others = ear.bells.filter(({ lanes, settle, all }) => lanes || settle || all);
  // That of its start.
  expect(others.length).toBeLessThanOrEqual(1);
});

test('134, 135: what it throws stops it where it is, after its tries; cleared, it has them anew', async () => {
  const id = await startTask(db.pool, faults, { step: 'Throw', state: {} });
  const stopped = await rowWhen(id, ({ error }) => error !== null);
  expect(stopped).toMatchObject({ tried: 2, is_running: false, error: 'it failed: why' });
  await db.pool.query('update pg_task set error = null where id = $1', [id]);
  await waitFor('its tries', async () => (await attemptsOf(id)).length === 3);
  expect(await rowWhen(id, ({ error }) => error !== null)).toMatchObject({ tried: 2 });
});

test('steps that return nothing, or what does not fit, fail', async () => {
  const forgets = await startTask(db.pool, faults, { step: 'Forget', state: {} });
  expect(await rowWhen(forgets, ({ error }) => error !== null)).toMatchObject({
    tried: 1,
    error: 'a step must return next.now(…), next.after(…), next.at(…) or next.done()',
  });
  const misfits = await startTask(db.pool, faults, { step: 'Misfit', state: {} });
  expect(await rowWhen(misfits, ({ error }) => error !== null)).toMatchObject({
    tried: 1,
    error: expect.stringContaining('the state does not fit step Wait of task Faults: gate'),
  });
});

test.for([
  ['Vanish', 'the state of step Vanish of task Faults is no JSON: TypeError: function is no JSON'],
  ['Far', 'next.at takes a Date in the years 1 to 9999'],
] as const)('what cannot be stored leaves %s where it is', async ([step, error]) => {
  const id = await startTask(db.pool, faults, { step, state: {} });
  const row = await rowWhen(id, (one) => one.error !== null);
  expect(row).toMatchObject({ step: `{"Faults":{"${step}":{}}}`, tried: 1, error });
});

test('136: a step that cannot be decoded is parked without a try', async () => {
  const misfit = await insert('{"Greeter":{"ReadName":{"file":"name.txt"}}}');
  expect(await rowWhen(misfit, ({ error }) => error !== null)).toMatchObject({
    tried: 0,
    error: expect.stringContaining('filename'),
  });
  const unknown = await rowOf(await insert('{"Greeter":{"Shout":null}}'));
  expect(unknown).toMatchObject({
    tried: 0,
    error: 'task Greeter has no step Shout: it has ReadName, SayHello',
  });
  expect(await rowOf(await insert('not-json'))).toMatchObject({
    tried: 0,
    step: 'not-json',
    error: expect.any(String),
  });
});

test('a step that only another version of the task has is left to a worker with that version', async () => {
  const newer = { kind: 'task', workflow_type: 'Greeter', step: 'Newer', max_attempts: 1 } as const;
  await declareHandlers(db.pool, [{ ...newer, backoff: null, timeout_secs: null }]);
  const id = await insert('{"Greeter":{"Newer":null}}');
  await waitFor('it to be handed back', async () => (await attemptsOf(id)).length > 0);
  expect((await attemptsOf(id))[0]).toMatchObject({
    outcome: 'handed_back',
    error: 'task Greeter has no step Newer: it has ReadName, SayHello',
  });
  expect(await rowOf(id)).toMatchObject({ tried: 0, error: null });
  await db.pool.query('delete from pg_task where id = $1', [id]);
  await db.pool.query(`delete from wfg_handlers where step = 'Newer'`);
});

test('141: an asynchronous throw and an exit are failed tries of their own step', async () => {
  for (const [step, error] of [
    ['ThrowLater', 'thrown later'],
    ['Exit', 'process.exit(7) was called'],
  ] as const) {
    const id = await startTask(db.pool, faults, { step, state: {} });
    expect(await rowWhen(id, (row) => row.error !== null)).toMatchObject({ tried: 1, error });
  }
});

test('integers beyond 2^53 keep their digits from step to step', async () => {
  const id = await insert('{"Faults":{"Echo":{"id":12345678901234567890}}}');
  const row = await rowWhen(id, (one) => one.step.includes('Wait'));
  expect(row.step).toBe('{"Faults":{"Wait":{"id":12345678901234567890}}}');
});

test('deleting a running task cancels it', async () => {
  const trail = path('trail');
  const id = await startTask(db.pool, faults, { step: 'Wait', state: { trail } });
  await waitFor('it to begin', () => readFile(trail, 'utf8'));
  await expect(
    db.pool.query(`update pg_task set step = '{"A":{"B":1}}' where id = $1`, [id]),
  ).rejects.toMatchObject({
    code: 'WF005',
  });
  await db.pool.query('delete from pg_task where id = $1', [id]);
  expect(await rowOf(id)).toBeUndefined();
  await waitFor('its end', async () => {
    const { rows } = await db.pool.query('select state from wfg_history where run_id = $1', [id]);
    return rows[0]?.state === 'cancelled';
  });
});

// pg_task, the view: what its users do to it, and that nothing else is touched by that.
import { claimJobs } from '@wfg/shared/queries/claim';
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { readAttempts, toAttempt } from '@wfg/shared/queries/attempts';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { finish, moveClock } from '../../support/engine.ts';
import { copyIn } from '../../support/copy-in.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

const STEP = '{"Greeter": {"ReadName":{"filename":"name.txt"}}}';
const SHOUT = '{"Greeter":{"Shout":null}}';
const ID = '0198c0de-0000-7000-8000-000000000001';

let db: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  db = await testDatabase();
  pool = db.pool;
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => {
  await pool.query('delete from wfg_jobs; delete from wfg_history; delete from wfg_handlers');
});

interface Row {
  id: string;
  step: string;
  wakeup_at: Date;
  tried: number;
  is_running: boolean;
  error: string | null;
  updated_at: Date;
}

const rowsOf = async (sql: string, values: unknown[] = []) => (await pool.query<Row>(sql, values)).rows;

async function insert(step: string): Promise<string> {
  const [row] = await rowsOf('insert into pg_task (step) values ($1) returning id', [step]);
  return row?.id ?? '';
}

/** Begins the task's step, as a worker does. */
async function begin() {
  const claim = { workerId: 'w1', instance: null, limit: 1, leaseSecs: 30, nonce: '7' };
  const [job] = await claimJobs(pool, { ...claim, labels: [':task Greeter'] }, new ClaimMemory());
  if (!job) throw new Error('nothing is due');
  return job;
}

/** Rows of the table below that a statement locked or wrote. */
const touched = async () =>
  (await pool.query<{ run_id: string }>('select run_id from wfg_jobs where xmax <> 0 or version > 1')).rows
    .length;

test('what is inserted comes back as it was written, with what was left out filled in', async () => {
  const [row] = await rowsOf('insert into pg_task (step) values ($1) returning *', [STEP]);
  expect(row).toEqual({
    id: expect.any(String),
    step: STEP,
    wakeup_at: expect.any(Date),
    tried: 0,
    is_running: false,
    error: null,
    created_at: row?.wakeup_at,
    updated_at: row?.wakeup_at,
  });
  const later = new Date(Date.now() + 3_600_000);
  await pool.query('insert into pg_task (id, step, wakeup_at) values ($1, $2, $3)', [ID, STEP, later]);
  expect(await rowsOf('select * from pg_task where id = $1', [ID])).toMatchObject([
    { wakeup_at: later, step: STEP },
  ]);
  await expect(
    pool.query('insert into pg_task (id, step) values ($1, $2)', [ID, STEP]),
  ).rejects.toMatchObject({
    code: '23505',
  });
});

test.for([
  [{ step: null }, 'WF001', 'a task needs a step'],
  [{ step: STEP, is_running: true }, 'WF001', 'a new task does not run yet'],
  [{ step: STEP, wakeup_at: 'infinity' }, 'WF001', 'wakeup_at must be a time in the years 1 to 9999'],
  [{ step: STEP, created_at: '-infinity' }, 'WF001', 'created_at must be a time in the years 1 to 9999'],
] as const)('%j is refused', async ([row, code, message]) => {
  const columns = Object.keys(row);
  const sql = `insert into pg_task (${columns.join()}) values (${columns.map((_, n) => `$${n + 1}`).join()})`;
  await expect(pool.query(sql, Object.values(row))).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  });
});

test.for([
  'not-json',
  '"text"',
  '3',
  'null',
  '[]',
  '{}',
  '{"Greeter":null}',
  '{"Greeter":{}}',
  '{"Greeter":{"A":1,"B":2}}',
  '{"A":{"B":1},"C":{"D":2}}',
  '{"":{"B":1}}',
  '{"A":{"":1}}',
  '{"A":{"a\\u0001b":1}}',
  `{"A":{"${'b'.repeat(256)}":1}}`,
  `{"Greeter":{"ReadName":${'['.repeat(1000)}${']'.repeat(1000)}}}`,
  `{"Greeter":{"ReadName":${'['.repeat(99_999)}${']'.repeat(99_999)}}}`,
])('%s is parked, and shown as it came', async (step) => {
  await insert(step);
  expect(await rowsOf('table pg_task')).toMatchObject([
    { step, tried: 0, is_running: false, error: expect.any(String) },
  ]);
  await pool.query('update pg_task set error = null');
  expect(await rowsOf('table pg_task')).toMatchObject([{ step, error: expect.any(String) }]);
  await pool.query('update pg_task set step = $1, error = null', [STEP]);
  expect(await rowsOf('table pg_task')).toMatchObject([{ step: STEP, error: null }]);
});

test('text that PostgreSQL cannot read again is made visible in a step', async () => {
  const given = String.raw`{"Greeter":{"ReadName":{"filename":"\u0000 \ud800 \ud83d\ude00 \\u0000 \udc00"}}}`;
  const seen = String.raw`{"Greeter":{"ReadName":{"filename":"␀ � \ud83d\ude00 \\u0000 �"}}}`;
  const id = await insert(given);
  const shown = { step: seen, error: null };
  expect(await rowsOf('table pg_task')).toMatchObject([shown]);
  await pool.query('update pg_task set step = $1', [SHOUT]);
  await pool.query('update pg_task set step = $1', [given]);
  await pool.query('select wfg_task($1)', [given]);
  expect(await rowsOf('select step, error from pg_task')).toEqual([shown, shown]);
  const filename = '\u2400 \ufffd \u{1f600} \\u0000 \ufffd';
  expect(await begin()).toMatchObject({ run_id: id, payload: { Greeter: { ReadName: { filename } } } });
});

test('a table of tasks is copied in', async () => {
  const data = `${ID}\t{"Greeter":{"ReadName":{"filename":"a"}}}\t\\N\n\\N\tnot-json\tbroken\n`;
  await copyIn(pool, 'copy pg_task (id, step, error) from stdin', data);
  expect(await rowsOf('select step, error from pg_task order by error nulls first')).toEqual([
    { step: '{"Greeter":{"ReadName":{"filename":"a"}}}', error: null },
    { step: 'not-json', error: 'broken' },
  ]);
});

test('clearing the errors of all resumes those that have one, and neither locks nor writes the others', async () => {
  const stopped = await insert(STEP);
  const job = await begin();
  await finish(pool, job, { outcome: 'failed', error: 'no', retryable: true });
  await pool.query('update wfg_jobs set version = 1');
  for (let n = 0; n < 3; n++) await insert(STEP);
  expect(await rowsOf('select * from pg_task where error is not null')).toMatchObject([
    { id: stopped, tried: 1 },
  ]);
  await pool.query('vacuum full wfg_jobs');
  await pool.query('update pg_task set error = null');
  expect(await touched()).toBe(1);
  expect(await rowsOf('select * from pg_task where id = $1', [stopped])).toMatchObject([
    { error: null, tried: 0 },
  ]);
  const { rows } = await pool.query('select outcome, error, step from wfg_attempts where run_id = $1', [
    stopped,
  ]);
  expect(rows).toEqual([{ outcome: 'failed', error: 'no', step: 'ReadName' }]);
});

test('its attempts stay as they were, whatever becomes of its row, and are told once', async () => {
  await pool.query(
    `insert into wfg_handlers (kind, workflow_type, step, max_attempts)
     values ('task', 'Greeter', 'ReadName', 6), ('task', 'Greeter', 'SayHello', 1)`,
  );
  const id = await insert(STEP);
  const tell = async () =>
    (await readAttempts(pool, id, 'main'))?.attempts.map((attempt) => {
      const { step, try: tried, error } = toAttempt(attempt);
      return [step, tried, error];
    });
  await finish(pool, await begin(), { outcome: 'failed', error: 'no', retryable: true });
  await pool.query(`update pg_task set error = 'look at this'`);
  await moveClock(pool, '1 day');
  await pool.query('update pg_task set error = null');
  expect(await tell()).toEqual([['ReadName', 1, 'no']]);
  await finish(pool, await begin(), { outcome: 'failed', error: 'never', retryable: false });
  await pool.query(`update pg_task set step = '{"Greeter":{"SayHello":{}}}', error = 'look again'`);
  await pool.query('update pg_task set error = null');
  const expected = [
    ['ReadName', 1, 'no'],
    ['ReadName', 1, 'never'],
  ];
  expect(await tell()).toEqual(expected);
  const latest = async (first: number) => (await readAttempts(pool, id, 'main', { first }))?.attempts.length;
  expect([await latest(1), await latest(2)]).toEqual([1, 0]);
  await moveClock(pool, '0 days');
});

test('what runs cannot be edited, is woken already, and is cancelled by deleting it', async () => {
  const id = await insert(STEP);
  await begin();
  expect(await rowsOf('table pg_task')).toMatchObject([{ id, is_running: true, tried: 0 }]);
  for (const set of [`step = '{"A":{"B":1}}'`, `error = 'stop'`])
    await expect(pool.query(`update pg_task set ${set}`)).rejects.toMatchObject({ code: 'WF005' });
  await expect(pool.query('update pg_task set is_running = false')).rejects.toMatchObject({ code: 'WF001' });
  for (const set of ['wakeup_at = now(), error = null', 'tried = 0, wakeup_at = null', 'tried = 5'])
    expect(await rowsOf(`update pg_task set ${set} returning *`)).toEqual([]);
  await pool.query('delete from pg_task');
  expect(await rowsOf('table pg_task')).toEqual([]);
  const { rows } = await pool.query('select state, cancel_requested_at is not null as asked from wfg_jobs');
  expect(rows).toEqual([{ state: 'active', asked: true }]);
});

test('deleting what waits cancels it, and what has stopped discards it', async () => {
  await insert(STEP);
  await insert('not-json');
  await pool.query('delete from pg_task');
  expect((await pool.query('select from wfg_jobs')).rowCount).toBe(0);
  const { rows } = await pool.query('select state from wfg_history order by state');
  expect(rows).toEqual([{ state: 'cancelled' }, { state: 'failed' }]);
});

test('144: an error that is set parks, wakeup_at moves, and updated_at follows', async () => {
  const id = await insert(STEP);
  const later = new Date(Date.now() + 86_400_000);
  const [moved] = await rowsOf('update pg_task set wakeup_at = $1 returning *', [later]);
  expect(moved).toMatchObject({ id, wakeup_at: later, error: null });
  expect(await rowsOf('select * from pg_task where updated_at > created_at')).toHaveLength(1);
  const [parked] = await rowsOf(`update pg_task set error = 'wait for Monday' returning *`);
  expect(parked).toMatchObject({ error: 'wait for Monday', wakeup_at: later });
  const [resumed] = await rowsOf('update pg_task set error = null returning *');
  expect(resumed?.error).toBeNull();
  expect(resumed?.wakeup_at.getTime()).toBeLessThan(later.getTime());
});

test('a step that its task does not have is parked when the task is known, and waits when it is not', async () => {
  const known = `insert into wfg_handlers (kind, workflow_type, step, max_attempts) values ('task', 'Greeter', 'ReadName', 6)`;
  await pool.query(known);
  await insert('{"Greeter":{"Shout":null}}');
  await insert('{"Stranger":{"Shout":null}}');
  expect(await rowsOf('select step, error from pg_task order by error nulls first')).toEqual([
    { step: '{"Stranger":{"Shout":null}}', error: null },
    { step: '{"Greeter":{"Shout":null}}', error: 'task Greeter has no step Shout: it has ReadName' },
  ]);
  await pool.query(known.replace('ReadName', 'Shout'));
  await pool.query('update pg_task set error = null');
  expect(await begin()).toMatchObject({ step: 'Shout', payload: { Greeter: { Shout: null } } });
});

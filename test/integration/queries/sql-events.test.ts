// Events from SQL: stored in the caller's transaction, once a key, refused with a code and what to do.
import { readEvent } from '@wfg/shared/queries/events';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { claim, claimEvent, finish, moveClock } from '../../support/engine.ts';
import { emptyTables } from '../../support/foreign.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { refusalOf, valueOf } from '../../support/sql.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
});

afterAll(() => db[Symbol.asyncDispose]());

beforeEach(async () => {
  await emptyTables(db.pool);
  await db.pool.query('delete from wfg_keys; delete from wfg_history; delete from wfg_event_tallies');
});

const NOBODY = '00000000-0000-7000-8000-000000000000';
const enqueue = (type = 'order.placed') => valueOf(db.pool, 'wfg_enqueue($1)', type);
const count = (table: string) => valueOf<number>(db.pool, `select count(*)::int from ${table}`);

test('an event has what it was given, and else FlowForge’s defaults', async () => {
  expect(await readEvent(db.pool, await enqueue())).toMatchObject({
    workflow_type: 'order.placed',
    payload: {},
    status: 'pending',
    attempts: 0,
    max_attempts: 3,
  });
  const id = await valueOf(
    db.pool,
    `wfg_enqueue('order.placed', payload => $1, max_attempts => 5, priority => 7, run_at => '2099-01-01T00:00:00Z')`,
    '{"id": 12345678901234567890}',
  );
  const event = await readEvent(db.pool, id);
  expect(event).toMatchObject({ max_attempts: 5, run_at: '2099-01-01T00:00:00.000Z' });
  expect(JSON.stringify(event?.payload)).toBe('{"id":12345678901234567890}');
  expect(await valueOf(db.pool, 'select priority from wfg_jobs where run_id = $1', id)).toBe(7);
  expect(await claimEvent(db.pool, 'order.placed')).toMatchObject({ kind: 'event', payload: {} });
});

test('a payload may be wide, and nested as deeply as programs can read it', async () => {
  for (const payload of [`repeat('[', 1000) || repeat(']', 1000)`, `'[' || repeat('[1],', 9999) || '[2]]'`])
    await valueOf(db.pool, `wfg_enqueue('order.placed', (${payload})::json)`);
  expect(await claim(db.pool, { labels: [':event order.placed'] })).toHaveLength(2);
});

test('what is null is as if it were not given', async () => {
  const id = await valueOf(db.pool, `wfg_enqueue('order.placed', null, null, null, null, null)`);
  expect(await readEvent(db.pool, id)).toMatchObject({ payload: {}, max_attempts: 3 });
});

test('text that PostgreSQL cannot read again is made visible', async () => {
  const given = String.raw`{"a": "\u0000 \ud800 \ud83d\ude00 \\u0000 \udc00"}`;
  const id = await valueOf(db.pool, `wfg_enqueue('order.placed', $1, idempotency_key => 'k')`, given);
  expect((await readEvent(db.pool, id))?.payload).toEqual({ a: '\u2400 \ufffd \u{1f600} \\u0000 \ufffd' });
});

test.for([
  [`wfg_enqueue(null)`, /^workflow_type must/],
  [`wfg_enqueue('')`, /^workflow_type must/],
  [`wfg_enqueue(repeat('x', 256))`, /^workflow_type must/],
  [`wfg_enqueue(E'a\\nb')`, /^workflow_type must/],
  [`wfg_enqueue('x', max_attempts => 0)`, /^max_attempts must be from 1 to 100, not 0/],
  [`wfg_enqueue('x', max_attempts => 101)`, /^max_attempts must/],
  [`wfg_enqueue('x', priority => 101)`, /^priority must be from -100 to 100/],
  [`wfg_enqueue('x', run_at => 'infinity')`, /^run_at must/],
  [`wfg_enqueue('x', (repeat('[', 1001) || repeat(']', 1001))::json)`, /^payload is nested/],
  [
    `wfg_enqueue('x', (repeat('{"a":', 5000) || '1e999999' || repeat('}', 5000))::json)`,
    /^payload is nested/,
  ],
  [`wfg_enqueue('x', idempotency_key => '')`, /^idempotency_key must be 1 to 255 printable/],
  [`wfg_enqueue('x', idempotency_key => repeat('x', 256))`, /^idempotency_key must/],
  [`wfg_enqueue('x', idempotency_key => E'a\\tb')`, /^idempotency_key must/],
  [`wfg_cancel(null)::text`, /must be given/],
  [`wfg_requeue(null)::text`, /must be given/],
] as const)('%s is refused', async ([sql, message]) => {
  expect(await refusalOf(db.pool, sql)).toEqual({
    code: 'WF001',
    message: expect.stringMatching(message),
    hint: expect.stringMatching(/./),
  });
  expect(await count('wfg_jobs')).toBe(0);
});

test('a rollback leaves nothing, a commit all of it', async () => {
  const tx = await db.pool.connect();
  try {
    await tx.query('create table if not exists orders (id int)');
    for (const end of ['rollback', 'commit']) {
      await tx.query('begin');
      await tx.query('insert into orders values (1)');
      await valueOf(tx, `wfg_enqueue('order.placed', idempotency_key => 'k')`);
      await tx.query(end);
      const expected = end === 'commit' ? 1 : 0;
      for (const table of ['orders', 'wfg_jobs', 'wfg_keys']) expect(await count(table)).toBe(expected);
    }
  } finally {
    tx.release();
  }
});

test('the same key and arguments give the same event, others are refused', async () => {
  const sql = `wfg_enqueue($1, $2, idempotency_key => $3)`;
  const id = await valueOf(db.pool, sql, 'a', '{"x": 1, "y": [1, 2]}', 'k');
  expect(await valueOf(db.pool, sql, 'a', '{"y":[1,2],"x":1}', 'k')).toBe(id);
  for (const [type, payload] of [
    ['b', '{"x": 1, "y": [1, 2]}'],
    ['a', '{"x": 1, "y": [2, 1]}'],
  ]) {
    expect(await refusalOf(db.pool, sql, type, payload, 'k')).toEqual({
      code: 'WF004',
      message: `idempotency_key 'k' was used with other arguments before`,
      hint: expect.stringContaining('new key'),
    });
  }
  await finish(db.pool, await claimEvent(db.pool, 'a'));
  expect(await valueOf(db.pool, sql, 'a', '{"x": 1, "y": [1, 2]}', 'k')).toBe(id);
  await moveClock(db.pool, '7 days 1 second');
  expect(await valueOf(db.pool, sql, 'a', '{"x": 2}', 'k')).not.toBe(id);
});

test('the same time in another time zone is the same argument', async () => {
  const tx = await db.pool.connect();
  const sql = `wfg_enqueue('a', run_at => '2099-01-01T00:00:00Z', idempotency_key => 'k')`;
  try {
    const id = await valueOf(db.pool, sql);
    await tx.query(`begin; set local timezone = 'Asia/Tokyo'`);
    expect(await valueOf(tx, sql)).toBe(id);
    await tx.query('commit');
  } finally {
    tx.release();
  }
});

test('who comes with the same key waits, and nobody else', async () => {
  const [first, second] = [await db.pool.connect(), await db.pool.connect()];
  const sql = `wfg_enqueue('a', idempotency_key => $1)`;
  try {
    for (const end of ['commit', 'rollback']) {
      await first.query('begin');
      const id = await valueOf(first, sql, end);
      let isOver = false;
      const twin = valueOf(second, sql, end).finally(() => (isOver = true));
      for (const key of ['other', null]) await valueOf(db.pool, sql, key && `${key} ${end}`);
      await valueOf(db.pool, `wfg_submit('{"name":"n","jobs":{"a":{"run":"true"}}}', $1)`, end);
      expect(isOver).toBe(false);
      await first.query(end);
      expect((await twin) === id).toBe(end === 'commit');
    }
  } finally {
    first.release();
    second.release();
  }
});

/** Sends 250 of 100 keys over a connection of its own; returns each key with the id it got. */
async function sendMany(offset: number): Promise<string[]> {
  const client = new Client(db.url);
  await client.connect();
  try {
    const sent: string[] = [];
    for (let n = 0; n < 250; n++) {
      const key = (n * 7 + offset * 25) % 100;
      const { rows } = await client.query<{ id: string }>(
        `select wfg_enqueue('a', $1, idempotency_key => $2) as id`,
        [JSON.stringify({ key }), `key ${key}`],
      );
      sent.push(`${key}: ${rows[0]?.id}`);
    }
    return sent;
  } finally {
    await client.end();
  }
}

test('1,000 events with 100 keys, each sent ten times from four connections, are 100 runs', async () => {
  const sent = (await Promise.all([0, 1, 2, 3].map(sendMany))).flat();
  expect(await count('wfg_jobs')).toBe(100);
  expect(new Set(sent).size).toBe(100);
});

test('one that waits is cancelled at once, one that runs is asked to stop, and both once', async () => {
  const waiting = await enqueue('a');
  await enqueue('b');
  const job = await claimEvent(db.pool, 'b');
  for (const run of [waiting, waiting, job.run_id, job.run_id])
    await valueOf(db.pool, 'wfg_cancel($1)::text', run);
  expect(await readEvent(db.pool, waiting)).toMatchObject({ status: 'cancelled' });
  expect(await valueOf(db.pool, 'select count(*)::int from wfg_history where run_id = $1', waiting)).toBe(1);
  expect(
    await valueOf(db.pool, `select sum(events)::int from wfg_event_tallies where state = 'cancelled'`),
  ).toBe(1);
  expect(await valueOf(db.pool, 'select state || version from wfg_jobs where run_id = $1', job.run_id)).toBe(
    'active4',
  );
  expect(await finish(db.pool, job)).toMatchObject({ state: 'cancelled' });
});

test('a dead letter is requeued with all its tries; what is none is refused', async () => {
  const id = await valueOf(db.pool, `wfg_enqueue('a', max_attempts => 1)`);
  const notDead = { code: 'WF003', hint: expect.stringMatching(/failed is requeued/) };
  for (const sql of ['wfg_requeue($1)::text', `wfg_requeue($1, 'main')::text`]) {
    expect(await refusalOf(db.pool, sql, id)).toMatchObject({
      ...notDead,
      message: `job 'main' of run ${id} is pending`,
    });
    await finish(db.pool, await claimEvent(db.pool, 'a'), { outcome: 'failed', error: 'x' });
    expect(await refusalOf(db.pool, 'wfg_cancel($1)::text', id)).toMatchObject({ code: 'WF003' });
    await valueOf(db.pool, sql, id);
    expect(await readEvent(db.pool, id)).toMatchObject({ status: 'pending', attempts: 0, last_error: 'x' });
  }
  await finish(db.pool, await claimEvent(db.pool, 'a'));
  expect(await refusalOf(db.pool, 'wfg_requeue($1)::text', id)).toMatchObject({
    ...notDead,
    message: expect.stringMatching(/is completed$/),
  });
  expect(await refusalOf(db.pool, 'wfg_cancel($1)::text', id)).toMatchObject({ code: 'WF003' });
});

test('a task whose step still cannot be read is not requeued', async () => {
  const { rows } = await db.pool.query<{ id: string }>(
    `insert into pg_task (step) values ('x') returning id`,
  );
  const id = rows[0]?.id;
  expect(await refusalOf(db.pool, 'wfg_requeue($1)::text', id)).toEqual({
    code: 'WF003',
    message: expect.stringContaining(`task ${id} cannot go on: the step is not JSON`),
    hint: expect.stringContaining('update pg_task set step ='),
  });
});

test.for(['wfg_cancel', 'wfg_requeue'])('%s of what there is not is refused', async (name) => {
  for (const sql of [`${name}($1)::text`, `${name}($1, 'main')::text`]) {
    expect(await refusalOf(db.pool, sql, NOBODY)).toEqual({
      code: 'WF002',
      message: `there is no run ${NOBODY}`,
      hint: expect.stringContaining('wfg_enqueue'),
    });
  }
  expect(await refusalOf(db.pool, `${name}($1, 'other')::text`, await enqueue())).toMatchObject({
    code: 'WF002',
    message: expect.stringMatching(/no job 'other'$/),
  });
});

test('a missing partition is made by whoever needs it', async () => {
  const [cancelled, dead] = [
    await enqueue('a'),
    await valueOf(db.pool, `wfg_enqueue('b', max_attempts => 1)`),
  ];
  await finish(db.pool, await claimEvent(db.pool, 'b'), { outcome: 'failed', error: 'x' });
  await moveClock(db.pool, '30 days');
  await valueOf(db.pool, 'wfg_requeue($1)::text', dead);
  await moveClock(db.pool, '60 days');
  await valueOf(db.pool, 'wfg_cancel($1)::text', cancelled);
  expect(await readEvent(db.pool, cancelled)).toMatchObject({ status: 'cancelled' });
});

test('they are called from any search_path', async () => {
  const tx = await db.pool.connect();
  try {
    await tx.query(`begin; set local search_path = pg_temp`);
    const id = await valueOf(tx, `public.wfg_enqueue('a', idempotency_key => 'k')`);
    const run = await valueOf(tx, `public.wfg_submit('{"name":"n","jobs":{"a":{"run":"true"}}}', 'k')`);
    for (const one of [id, run]) await valueOf(tx, 'public.wfg_cancel($1)::text', one);
    await tx.query('commit');
    expect(await readEvent(db.pool, id)).toMatchObject({ status: 'cancelled' });
  } finally {
    tx.release();
  }
});

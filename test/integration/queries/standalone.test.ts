// Standalone jobs in the rows: they move to history when they are over, stay when they are dead, and are read as runs.
import { enqueueEvent, type NewEvent } from '@wfg/shared/queries/enqueue';
import { expireJobs } from '@wfg/shared/queries/expire';
import { cancelJob } from '@wfg/shared/queries/cancel';
import { readAttempts } from '@wfg/shared/queries/attempts';
import { readJob } from '@wfg/shared/queries/job';
import { declareHandlers } from '@wfg/shared/queries/handlers';
import { reapExpired, surrenderLeases } from '@wfg/shared/queries/reap';
import { requeueJob } from '@wfg/shared/queries/requeue';
import { readRun } from '@wfg/shared/queries/run';
import { listRuns } from '@wfg/shared/queries/run-list';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { claim, finish, moveClock, submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';

async function enqueue(pool: Pool, given: Partial<NewEvent> = {}): Promise<string> {
  const event: NewEvent = {
    workflow_type: 'order.placed',
    payload: { id: 1 },
    max_attempts: 3,
    run_at: null,
    expires_in_secs: null,
    priority: 0,
    backoff: null,
    timeout_secs: null,
    ...given,
  };
  return (await enqueueEvent(pool, event)).run_id;
}

async function take(pool: Pool) {
  const [job] = await claim(pool, { labels: [':event order.placed'], limit: 1 });
  if (!job) throw new Error('nothing to claim');
  return job;
}

async function tables(pool: Pool, run: string) {
  const { rows } = await pool.query<{ live: number; kept: number; state: string }>(
    `select (select count(*)::int from wfg_jobs where run_id = $1) as live,
       (select count(*)::int from wfg_history where run_id = $1) as kept,
       (select state from (select run_id, state from wfg_jobs union all select run_id, state from wfg_history) j
        where run_id = $1) as state`,
    [run],
  );
  return rows[0];
}

test('one that completed is in history at once, whole, and its repeated report is told so', async () => {
  await using db = await testDatabase();
  const run = await enqueue(db.pool);
  expect(await readRun(db.pool, run)).toMatchObject({
    status: 'pending',
    workflow_id: null,
    workflow_type: 'order.placed',
    payload: { id: 1 },
    jobs: [{ job_id: 'main', state: 'pending', uses: 'order.placed', required_labels: [] }],
  });
  const job = await take(db.pool);
  expect(job).toMatchObject({ kind: 'event', workflow_type: 'order.placed', payload: { id: 1 }, tries: 1 });
  expect(await readRun(db.pool, run)).toMatchObject({ status: 'running' });
  expect(await finish(db.pool, job, { outputs: { total: '3' } })).toMatchObject({
    answer: 'applied',
    state: 'completed',
  });
  expect(await tables(db.pool, run)).toEqual({ live: 0, kept: 1, state: 'completed' });
  expect(await finish(db.pool, job)).toMatchObject({ answer: 'already' });
  expect(await readRun(db.pool, run)).toMatchObject({
    status: 'completed',
    jobs: [{ state: 'completed', tries: 1, attempt: 0 }],
  });
  expect(await readJob(db.pool, run, 'main')).toMatchObject({ outputs: { total: '3' } });
  expect((await readAttempts(db.pool, run, 'main'))?.attempts).toMatchObject([
    { outcome: 'completed', try: 1 },
  ]);
});

test('the columns that move are all there are', async () => {
  await using db = await testDatabase();
  const run = await enqueue(db.pool, { priority: 7, timeout_secs: 9, backoff: 'None', expires_in_secs: 60 });
  const { rows: before } = await db.pool.query(
    'select to_jsonb(j) as row from wfg_jobs j where run_id = $1',
    [run],
  );
  await cancelJob(db.pool, run, 'main');
  const { rows: after } = await db.pool.query(
    'select to_jsonb(h) as row from wfg_history h where run_id = $1',
    [run],
  );
  const changed = Object.keys(after[0].row).filter(
    (key) => JSON.stringify(after[0].row[key]) !== JSON.stringify(before[0].row[key]),
  );
  expect(changed.sort()).toEqual([
    'cancel_requested_at',
    'finished_at',
    'moved_on',
    'state',
    'updated_at',
    'version',
  ]);
});

test('one that failed for good is a dead letter, and requeued has all its tries again', async () => {
  await using db = await testDatabase();
  const run = await enqueue(db.pool, { max_attempts: 2, backoff: 'None' });
  for (const state of ['pending', 'failed']) {
    expect(await finish(db.pool, await take(db.pool), { outcome: 'failed', error: 'no' })).toMatchObject({
      state,
    });
  }
  expect(await tables(db.pool, run)).toEqual({ live: 1, kept: 0, state: 'failed' });
  expect(await requeueJob(db.pool, run)).not.toBeNull();
  expect(await requeueJob(db.pool, run)).toBeNull();
  const again = await take(db.pool);
  expect(again).toMatchObject({ attempt: 2, tries: 1 });
  await finish(db.pool, again);
  const attempts = (await readAttempts(db.pool, run, 'main'))?.attempts;
  expect(attempts?.map((one) => [one.attempt, one.try, one.outcome])).toEqual([
    [0, 1, 'failed'],
    [1, 2, 'failed'],
    [2, 1, 'completed'],
  ]);
});

test("it waits as its own backoff says, else its handler's, else one second and more", async () => {
  await using db = await testDatabase();
  async function waitOf(given: Partial<NewEvent>): Promise<number> {
    const run = await enqueue(db.pool, given);
    await finish(db.pool, await take(db.pool), { outcome: 'failed', error: 'no' });
    const { rows } = await db.pool.query<{ secs: number }>(
      'select extract(epoch from run_at - updated_at)::float8 as secs from wfg_jobs where run_id = $1',
      [run],
    );
    return rows[0]?.secs ?? Number.NaN;
  }
  expect(await waitOf({})).toBe(1);
  await declareHandlers(db.pool, [
    {
      kind: 'event',
      workflow_type: 'order.placed',
      step: '',
      max_attempts: null,
      backoff: { Fixed: { delay_secs: 30 } },
      timeout_secs: null,
    },
  ]);
  expect(await waitOf({})).toBe(30);
  expect(await waitOf({ backoff: { Fixed: { delay_secs: 5 } } })).toBe(5);
  expect(await waitOf({ backoff: 'None' })).toBe(0);
});

test('lost workers cost it no try, but five of them end it', async () => {
  await using db = await testDatabase();
  const run = await enqueue(db.pool);
  for (let loss = 1; loss <= 5; loss++) {
    await moveClock(db.pool, `${loss} hours`);
    const job = await take(db.pool);
    expect(job.tries).toBe(1);
    if (loss % 2) await surrenderLeases(db.pool, [{ ...job, error: null }], 'its process was killed');
    else {
      await moveClock(db.pool, `${loss} hours 31 seconds`);
      await reapExpired(db.pool, 10);
    }
  }
  expect(await readRun(db.pool, run)).toMatchObject({
    status: 'failed',
    jobs: [{ state: 'failed', tries: 0, error: 'worker lost: its process was killed' }],
  });
  const triesOf = async () =>
    (await readAttempts(db.pool, run, 'main'))?.attempts.map(({ outcome, try: tried }) => [outcome, tried]);
  const losses = Array.from({ length: 5 }, () => ['lost', 1]);
  expect(await triesOf()).toEqual(losses);
  await requeueJob(db.pool, run);
  expect(await triesOf()).toEqual(losses);
});

test('one that is lost after its cancel was asked for costs it no try either', async () => {
  await using db = await testDatabase();
  const run = await enqueue(db.pool);
  const job = await take(db.pool);
  await cancelJob(db.pool, run, 'main');
  await surrenderLeases(db.pool, [{ ...job, error: null }], 'its process was killed');
  expect(await readRun(db.pool, run)).toMatchObject({ status: 'cancelled', jobs: [{ tries: 0 }] });
  expect(await readAttempts(db.pool, run, 'main')).toMatchObject({ attempts: [{ outcome: 'lost', try: 1 }] });
});

test('those that were lost together come back at once, and the next time apart', async () => {
  await using db = await testDatabase();
  for (let n = 0; n < 5; n++) await enqueue(db.pool);
  async function loseAll(): Promise<number[]> {
    const jobs = [];
    for (let n = 0; n < 5; n++) jobs.push({ ...(await take(db.pool)), error: null });
    await surrenderLeases(db.pool, jobs, 'its process was killed');
    const { rows } = await db.pool.query<{ secs: number }>(
      'select extract(epoch from run_at - wfg_now())::float8 as secs from wfg_jobs',
    );
    return rows.map(({ secs }) => secs);
  }
  expect(Math.max(...(await loseAll()))).toBeLessThanOrEqual(0);
  const apart = await loseAll();
  expect(new Set(apart).size).toBe(5);
  expect(Math.max(...apart)).toBeLessThanOrEqual(3);
});

test('an attempt that is to blame for the end of its process fails, the others are lost', async () => {
  await using db = await testDatabase();
  const runs = [await enqueue(db.pool), await enqueue(db.pool)];
  const [guilty, other] = [await take(db.pool), await take(db.pool)];
  await surrenderLeases(
    db.pool,
    [
      { ...guilty, error: 'it called process.exit' },
      { ...other, error: null },
    ],
    'gone',
  );
  const [first, second] = await Promise.all(runs.map((run) => readAttempts(db.pool, run, 'main')));
  expect(first?.attempts).toMatchObject([{ outcome: 'failed', error: 'it called process.exit' }]);
  expect(second?.attempts).toMatchObject([{ outcome: 'lost', error: 'gone' }]);
  const tries = (await listRuns(db.pool, { limit: 10 })).items.map((run) => run.run_id);
  expect(tries).toEqual(runs.toReversed());
});

test('a cancel ends one that waits, and is acknowledged by the report of one that runs', async () => {
  await using db = await testDatabase();
  const [waits, runs] = [await enqueue(db.pool, { run_at: new Date('2100-01-01') }), await enqueue(db.pool)];
  const job = await take(db.pool);
  const cancel = (run: string) => cancelJob(db.pool, run, 'main');
  expect(await cancel(waits)).toBe('cancelled');
  expect(await cancel(runs)).toBe('active');
  expect(await readRun(db.pool, runs)).toMatchObject({ status: 'cancelling', jobs: [{ cancelling: true }] });
  expect(await finish(db.pool, job, { outputs: { a: '1' } })).toMatchObject({ state: 'cancelled' });
  for (const run of [waits, runs]) {
    expect(await tables(db.pool, run)).toEqual({ live: 0, kept: 1, state: 'cancelled' });
    expect(await cancel(run)).toBeNull();
  }
  const { rows } = await db.pool.query('select state, events::int from wfg_event_tallies order by events');
  expect(rows).toEqual([
    { state: 'cancelled', events: 1 },
    { state: 'cancelled', events: 1 },
  ]);
});

test('what nobody began in time fails, and is not claimed after its time', async () => {
  await using db = await testDatabase();
  const [late, begun] = [
    await enqueue(db.pool, { expires_in_secs: 60 }),
    await enqueue(db.pool, { expires_in_secs: 60, backoff: 'None', priority: 1 }),
  ];
  await finish(db.pool, await take(db.pool), { outcome: 'failed', error: 'no' });
  await moveClock(db.pool, '2 minutes');
  const taken = await claim(db.pool, { labels: [':event order.placed'] });
  expect(taken.map((job) => job.run_id)).toEqual([begun]);
  expect(await expireJobs(db.pool, 10)).toMatchObject([{ run_id: late, job_id: 'main' }]);
  expect(await readRun(db.pool, late)).toMatchObject({
    status: 'failed',
    jobs: [{ error: 'expired: no worker began it within 60 s' }],
  });
});

test('standalone jobs and graphs are one list, narrowed by status, type, label and place', async () => {
  await using db = await testDatabase();
  const ids = [
    await enqueue(db.pool),
    await submit(db.pool, { a: {} }),
    await enqueue(db.pool, { workflow_type: 'b' }),
  ];
  await finish(db.pool, await take(db.pool));
  const list = async (filter: object) =>
    (await listRuns(db.pool, { limit: 10, ...filter })).items.map((run) => ids.indexOf(run.run_id));
  expect(await list({})).toEqual([2, 1, 0]);
  expect(await list({ limit: 2 })).toEqual([2, 1]);
  expect(await list({ before: ids[1] })).toEqual([0]);
  expect(await list({ status: 'completed' })).toEqual([0]);
  expect(await list({ status: 'pending' })).toEqual([2, 1]);
  expect(await list({ workflow_type: 'b' })).toEqual([2]);
  expect(await list({ workflowId: 'ci' })).toEqual([]);
});

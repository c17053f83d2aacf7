// GET /metrics: FlowForge's numbers, and the whole system for Prometheus.
import { EventMetrics } from '@wfg/shared/contract/stats';
import { cancelJob } from '@wfg/shared/queries/cancel';
import { storeCounts } from '@wfg/shared/queries/counts';
import { requeueJob } from '@wfg/shared/queries/requeue';
import { sumUpTallies } from '@wfg/shared/queries/tallies';
import type { z } from 'zod';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { claim, claimEvent, enqueue, finish, moveClock, submit } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url);
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await moveClock(db.pool, '0');
  await db.pool.query('truncate wfg_jobs, wfg_history, wfg_runs, wfg_event_tallies, wfg_counts');
});

async function metrics(): Promise<z.infer<typeof EventMetrics>> {
  const { status, body } = await api.ask('GET', '/metrics', undefined, { accept: '*/*' });
  expect(status).toBe(200);
  const read = EventMetrics.parse(body);
  const { pending, processing, completed, failed, dead_lettered, cancelled, total_workflows } = read;
  expect(pending + processing + completed + failed + dead_lettered + cancelled).toBe(total_workflows);
  return read;
}

const nothing = {
  total_workflows: 0,
  pending: 0,
  processing: 0,
  completed: 0,
  failed: 0,
  dead_lettered: 0,
  cancelled: 0,
  average_processing_time_ms: 0,
};

async function end(outcome: 'completed' | 'failed' | 'cancelled', max_attempts = 3): Promise<string> {
  const id = await enqueue(db.pool, 'a', { max_attempts });
  await finish(db.pool, await claimEvent(db.pool, 'a'), { outcome });
  return id;
}

test('with no data every number is 0', async () => {
  expect(await metrics()).toEqual({ ...nothing, as_of: expect.any(String) });
});

test('each status is counted, and jobs of graphs are not', async () => {
  await end('completed');
  await end('completed');
  await end('cancelled');
  await end('failed', 1);
  await end('failed');
  await enqueue(db.pool, 'b');
  await claimEvent(db.pool, 'b');
  for (let n = 0; n < 4; n++) await enqueue(db.pool, 'c');
  await submit(db.pool, { main: {}, b: {} });
  expect(await metrics()).toMatchObject({
    total_workflows: 10,
    pending: 4,
    processing: 1,
    completed: 2,
    failed: 1,
    dead_lettered: 1,
    cancelled: 1,
  });
});

test('the average is that of completed events', async () => {
  await end('failed', 1);
  for (const seconds of [0.1, 0.2]) {
    await enqueue(db.pool, 'a');
    const job = await claimEvent(db.pool, 'a');
    await db.pool.query(
      `update wfg_jobs set started_at = now() - make_interval(secs => $2) where run_id = $1`,
      [job.run_id, seconds],
    );
    // wfg_now() is the time the statement's transaction began.
    await finish(db.pool, job);
  }
  const { average_processing_time_ms } = await metrics();
  expect(average_processing_time_ms).toBeGreaterThanOrEqual(150);
  expect(average_processing_time_ms).toBeLessThan(10_000);
});

test('an event that is requeued or cancelled is counted once, where it is', async () => {
  const dead = await end('failed', 1);
  expect(await metrics()).toMatchObject({ total_workflows: 1, dead_lettered: 1 });
  await requeueJob(db.pool, dead);
  expect(await metrics()).toMatchObject({ total_workflows: 1, dead_lettered: 0, pending: 1 });
  await cancelJob(db.pool, dead, 'main');
  expect(await metrics()).toMatchObject({ total_workflows: 1, pending: 0, cancelled: 1 });
});

test('summing up the tallies changes nothing, whoever does it at once', async () => {
  for (let n = 0; n < 12; n++) await end(n % 3 === 0 ? 'cancelled' : 'completed');
  const { as_of: _, ...before } = await metrics();
  const { rowCount } = await db.pool.query('select from wfg_event_tallies');
  expect(rowCount).toBe(12);
  await Promise.all([1, 2, 3].map(() => sumUpTallies(db.pool, 5)));
  expect(await metrics()).toMatchObject(before);
  await sumUpTallies(db.pool, 100);
  const { rows } = await db.pool.query('select state, events from wfg_event_tallies order by state');
  expect(rows).toEqual([
    { state: 'cancelled', events: 4 },
    { state: 'completed', events: 8 },
  ]);
  expect(await metrics()).toMatchObject(before);
});

test('while there are fewer than 100,000 they are counted, whatever was counted before', async () => {
  await enqueue(db.pool, 'a');
  await storeCounts(db.pool);
  await enqueue(db.pool, 'a');
  expect(await metrics()).toMatchObject({ pending: 2 });
});

test('of more, what was counted last is told, with its time; what is old is not', async () => {
  await enqueue(db.pool, 'a');
  await db.pool.query(`insert into wfg_event_tallies values (now(), 'completed', 100000, 250000)`);
  await storeCounts(db.pool);
  await enqueue(db.pool, 'a');
  const { rows } = await db.pool.query<{ counted_at: Date }>('select counted_at from wfg_counts');
  expect(await metrics()).toMatchObject({
    total_workflows: 100_001,
    pending: 1,
    average_processing_time_ms: 2.5,
    as_of: rows[0]?.counted_at.toISOString(),
  });
  await moveClock(db.pool, '61 s');
  expect(await metrics()).toMatchObject({ total_workflows: 100_002, pending: 2 });
});

const JSON_TEXT = ['application/json', /^\{"total_workflows"/] as const;
const TEXT = ['text/plain; version=0.0.4; charset=utf-8', /^# HELP wfg_build_info .*\n# TYPE/] as const;
const OPEN = ['application/openmetrics-text; version=1.0.0; charset=utf-8', /\n# EOF\n$/] as const;

test.each([
  ['*/*', ...JSON_TEXT],
  ['application/json', ...JSON_TEXT],
  ['text/html,application/xhtml+xml,*/*;q=0.8', ...JSON_TEXT],
  ['text/plain', ...TEXT],
  ['text/plain;version=0.0.4;q=0.5,*/*;q=0.1', ...TEXT],
  ['application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2', ...OPEN],
])('with Accept: %s it is %s', async (accept, type, text) => {
  const response = await fetch(`${api.url}/metrics`, { headers: { accept } });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(type);
  expect(response.headers.get('vary')).toContain('accept');
  expect(await response.text()).toMatch(text);
});

test('Prometheus is told of the whole system', async () => {
  await end('completed');
  await end('failed', 1);
  await enqueue(db.pool, 'odd "type"\\');
  await enqueue(db.pool, 'a', { run_at: new Date(Date.now() + 3_600_000) });
  await submit(db.pool, { x: {}, y: { needs: 'x' }, z: { labels: ['gpu'] } });
  await claim(db.pool, { limit: 1 });
  await db.pool.query(`insert into wfg_workers (worker_id, concurrency, last_heartbeat)
    values ('w1', 1, wfg_now()), ('w2', 1, wfg_now()), ('w3', 1, wfg_now() - interval '1 h')`);
  await moveClock(db.pool, '10 s');
  const { body } = await api.ask('GET', '/metrics', undefined, { accept: 'text/plain' });
  const lines = String(body).split('\n');
  for (const line of [
    'wfg_jobs{kind="command",state="active"} 1',
    'wfg_jobs{kind="command",state="blocked"} 1',
    'wfg_jobs{kind="command",state="pending"} 1',
    'wfg_jobs{kind="event",state="failed"} 1',
    'wfg_jobs{kind="event",state="pending"} 2',
    'wfg_jobs_due{type="command"} 1',
    String.raw`wfg_jobs_due{type="odd \"type\"\\"} 1`,
    'wfg_runs_open 1',
    'wfg_workers{status="busy"} 1',
    'wfg_workers{status="idle"} 1',
    'wfg_workers{status="draining"} 0',
    'wfg_workers{status="offline"} 1',
    'wfg_events{status="completed"} 1',
    'wfg_events{status="dead_lettered"} 1',
    'wfg_events{status="pending"} 2',
  ])
    expect(lines).toContain(line);
  const oldest = lines.find((line) => line.startsWith('wfg_jobs_due_oldest_seconds{type="command"}'));
  expect(Number(oldest?.split(' ').at(-1))).toBeGreaterThanOrEqual(10);
  expect(lines.filter((line) => line.startsWith('wfg_table_bytes{'))).toHaveLength(5);
  const names = lines.flatMap((line) => /^(\w+)[ {]/.exec(line)?.[1] ?? []);
  for (const name of names) expect(lines.some((line) => line.startsWith(`# HELP ${name} `))).toBe(true);
});

test('of very many types the 50 with the most due jobs are told apart', async () => {
  for (let n = 0; n < 60; n++) await enqueue(db.pool, `t${n}`);
  await enqueue(db.pool, 't59');
  const { body } = await api.ask('GET', '/metrics', undefined, { accept: 'text/plain' });
  const due = String(body).match(/^wfg_jobs_due\{.*$/gm);
  expect(due).toHaveLength(50);
  expect(due?.[0]).toBe('wfg_jobs_due{type="t59"} 2');
});

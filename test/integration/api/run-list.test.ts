// Pages of the list of runs that are bounded by what they carry and by what is looked at for them.
import { RunPage } from '@wfg/shared/contract/routes/runs';
import { expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { enqueue, submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';

/** The ids on each page. */
async function pages({ ask }: TestApi, query: string): Promise<string[][]> {
  const all: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await ask('GET', `/api/runs?${query}${cursor && `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    const { items, next } = RunPage.parse(body);
    all.push(items.map(({ run_id }) => run_id));
    cursor = next;
  }
  return all;
}

test('a page ends behind the payload that makes it large, and graphs stay between events', async () => {
  await using db = await testDatabase();
  const large = { payload: { text: 'x'.repeat(3 * 1024 * 1024) } };
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    ids.unshift(await submit(db.pool, { a: {} }));
    ids.unshift(await enqueue(db.pool, 'a', large));
  }
  await using api = await startApi(db.url);
  const found = await pages(api, 'limit=100');
  expect(found.map(({ length }) => length)).toEqual([3, 3]);
  expect(found.flat()).toEqual(ids);
  expect((await pages(api, 'limit=2')).flat()).toEqual(ids);
});

test('a rare label or type is looked for in so many runs a page, and found', async () => {
  await using db = await testDatabase();
  const labelled = await submit(db.pool, { a: { labels: ['gpu'] } });
  const typed = await submit(db.pool, { a: { run: undefined, uses: 'rare' } });
  const event = await enqueue(db.pool, 'rare');
  await db.pool.query(
    `insert into wfg_runs (name, open_jobs, state, finished_at)
     select 'r', 0, 'completed', wfg_now() from generate_series(1, 12000)`,
  );
  await db.pool.query(
    `insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, payload)
     select wfg_uuid7(), 0, 'main', 'e', 'e', 'pending', 'event', array[':event e'], '{}' from generate_series(1, 6000)`,
  );
  await using api = await startApi(db.url);
  const byLabel = await pages(api, 'label=gpu');
  expect(byLabel.slice(0, -1).flat()).toEqual([]);
  expect(byLabel.length).toBeGreaterThan(2);
  expect(byLabel.at(-1)).toEqual([labelled]);
  expect((await pages(api, 'workflow_type=rare')).flat()).toEqual([event, typed]);
  expect((await pages(api, 'workflow_type=none')).flat()).toEqual([]);
  expect((await pages(api, 'status=pending&label=gpu&limit=1')).flat()).toEqual([labelled]);
});

test('runs of one kind', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {} });
  const event = await enqueue(db.pool, 'a');
  await db.pool.query(
    `insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, payload)
     select wfg_uuid7(), 0, 'main', 'e', 'e', 'pending', 'event', array[':event e'], '{}' from generate_series(1, 6000)`,
  );
  const task = await db.pool.query<{ run_id: string }>(
    `insert into wfg_jobs (run_id, position, job_id, name, workflow_type, step, state, kind, required_labels, payload)
     values (wfg_uuid7(), 0, 'main', 't', 't', 's', 'pending', 'task', array[':task t'], '{}') returning run_id`,
  );
  await using api = await startApi(db.url);
  expect((await pages(api, 'kind=workflow&limit=1')).flat()).toEqual([run]);
  expect((await pages(api, 'kind=task')).flat()).toEqual([task.rows[0]?.run_id]);
  const events = await pages(api, 'kind=event&limit=500');
  expect(events.flat()).toHaveLength(6_001);
  expect(events.flat().at(-1)).toBe(event);
  expect((await api.ask('GET', '/api/runs?kind=other')).status).toBe(400);
});

test('runs by a part of their name, or by how their id begins', async () => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {} });
  await db.pool.query(`update wfg_runs set name = 'Nightly Übersetzung'`);
  const event = await enqueue(db.pool, 'mail.nightly');
  const other = await enqueue(db.pool, 'mail');
  await using api = await startApi(db.url);
  const found = async (text: string) => (await pages(api, `text=${encodeURIComponent(text)}`)).flat();
  expect(await found('NIGHTLY')).toEqual([event, run]);
  expect(await found('übersetzung')).toEqual([run]);
  expect(await found('100%')).toEqual([]);
  expect(await found(run)).toEqual([run]);
  expect(await found(run.slice(0, 6))).toEqual([other, event, run]);
  expect(await found(other.slice(0, 35).toUpperCase())).toEqual([other]);
  expect((await pages(api, `text=mail&kind=event&limit=1`)).flat()).toEqual([other, event]);
  expect((await api.ask('GET', '/api/runs?text=')).status).toBe(400);
  expect((await api.ask('GET', '/api/runs?text=%00')).status).toBe(400);
});

test('a rare text, and times long ago, are looked for in so many runs a page; of workflows and events by their ids', async () => {
  await using db = await testDatabase();
  const long = '2026-01-01T00:00:00Z';
  await db.pool.query(
    `insert into wfg_runs (id, name, open_jobs, state, created_at, finished_at)
     select ('019b7' || substr(wfg_uuid7()::text, 6))::uuid, 'old', 0, 'completed', $1, wfg_now()
     from generate_series(1, 2)`,
    [long],
  );
  await db.pool.query(
    `insert into wfg_runs (name, open_jobs, state, finished_at)
     select 'r', 0, 'completed', wfg_now() from generate_series(1, 12000)`,
  );
  await using api = await startApi(db.url);
  const sizes = async (query: string) => (await pages(api, query)).map(({ length }) => length);
  expect(await sizes('text=old')).toEqual([0, 0, 2]);
  expect(await sizes('until=2026-01-02T00:00:00Z')).toEqual([0, 0, 2]);
  expect(await sizes('kind=workflow&until=2026-01-02T00:00:00Z')).toEqual([2]);
  expect(await sizes('kind=workflow&since=2026-01-02T00:00:00Z&text=old')).toEqual([0, 0, 0]);
  const last = await api.ask(
    'GET',
    '/api/runs?kind=workflow&until=2026-01-02T00:00:00Z&since=2025-12-31T00:00:00Z',
  );
  expect(last.body).toMatchObject({ items: [{ name: 'old' }, { name: 'old' }], next: null });
});

import type { ClaimedJob } from '@wfg/shared/queries/claim';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { advance, claim, finish, print } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;
let api: TestApi;
let run: string;

async function claimOne(): Promise<ClaimedJob> {
  const [job] = await claim(db.pool, { limit: 1 });
  if (!job) throw new Error('nothing to claim');
  return job;
}

/** Attempt 0 has 200 chunks and fails; attempt 1 has 3, of which 2 are sealed. */
beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url);
  await api.ask('PUT', '/api/workflows/w', { name: 'w', jobs: { a: { run: 'true', retries: 1 } } });
  run = Object(await api.ask('POST', '/api/workflows/w/run')).body.run_id;
  const first = await claimOne();
  await print(db.pool, first, 0, 200);
  await finish(db.pool, first, { outcome: 'failed', log_chunks: 200, log_lines: 400, log_bytes: 400 });
  const second = await claimOne();
  await print(db.pool, second, 0, 3);
  await finish(db.pool, second, { outcome: 'failed', log_chunks: 2, log_lines: 4, log_bytes: 4 });
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

async function read(query = ''): Promise<string[]> {
  const { status, body } = await api.ask('GET', `/api/runs/${run}/jobs/a/logs${query}`);
  expect(status).toBe(200);
  return Object(body).map((chunk: { data: string }) => chunk.data.trimEnd());
}

const chunks = (attempt: number, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${attempt}:${from + index}`);

test('a chunk says where it belongs', async () => {
  const { body } = await api.ask('GET', `/api/runs/${run}/jobs/a/logs?limit=1`);
  expect(body).toEqual([
    {
      workflow_id: 'w',
      run_id: run,
      job_id: 'a',
      attempt: 0,
      sequence: 0,
      line: 1,
      data: '0:0\n\n',
      timestamp_ms: 0,
      stream: 'stdout',
    },
  ]);
});

test.each([
  ['all attempts up to their seals', '', [...chunks(0, 0, 200), ...chunks(1, 0, 2)]],
  ['one attempt', '?attempt=1', chunks(1, 0, 2)],
  ['no such attempt', '?attempt=7', []],
  ['what is behind a place', '?after=0:197', [...chunks(0, 198, 200), ...chunks(1, 0, 2)]],
  ['nothing behind the end', '?after=1:1', []],
  ['a few', '?after=0:198&limit=2', ['0:199', '1:0']],
  ['from a line of the latest attempt', '?line=3', ['1:1']],
  ['from a line of a named attempt', '?attempt=0&line=4&limit=2', ['0:1', '0:2']],
])('reads %s', async (_what, query, expected) => {
  expect(await read(query)).toEqual(expected);
});

test('the same is read after the run has ended, and by the workflow', async () => {
  await advance(db.pool);
  const { body } = await api.ask('GET', `/api/runs/${run}`);
  expect(body).toMatchObject({ status: 'failed' });
  expect(await read()).toHaveLength(202);
  expect((await api.ask('GET', '/api/workflows/w/jobs/a/logs')).body).toHaveLength(202);
});

test.each([
  ['the latest attempt', '', 1, 2],
  ['a named attempt', '?attempt=0', 0, 200],
])('the text of %s ends at its seal', async (_what, query, attempt, sealed) => {
  const { status, headers, body } = await api.ask('GET', `/api/runs/${run}/jobs/a/logs/raw${query}`);
  const text = chunks(attempt, 0, sealed).map((chunk) => `${chunk}\n\n`);
  expect([status, body]).toEqual([200, text.join('')]);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': `inline; filename="${run}-a-${attempt}.log"`,
    'x-content-type-options': 'nosniff',
  });
  expect(await api.ask('GET', `/api/workflows/w/jobs/a/logs/raw${query}`)).toMatchObject({ status, body });
});

test('the text of a running attempt ends at what is there', async () => {
  await api.ask('PUT', '/api/workflows/open', { name: 'open', jobs: { a: { run: 'true' } } });
  await api.ask('POST', '/api/workflows/open/run');
  const raw = () => api.ask('GET', '/api/workflows/open/jobs/a/logs/raw');
  expect(await raw()).toMatchObject({ status: 200, body: '' });
  const job = await claimOne();
  await print(db.pool, job, 0, 3, (sequence) => `ä${sequence}\n`);
  expect(await raw()).toMatchObject({ status: 200, body: 'ä0\nä1\nä2\n' });
});

test('a job that never ran has printed nothing', async () => {
  await api.ask('PUT', '/api/workflows/new', { name: 'new', jobs: { a: { run: 'true' } } });
  expect(await api.ask('GET', '/api/workflows/new/jobs/a/logs')).toMatchObject({ status: 200, body: [] });
  expect((await api.ask('GET', '/api/workflows/new/jobs/b/logs')).status).toBe(404);
});

test.each([
  ['/api/workflows/w/jobs/zzz/logs', 404],
  ['/api/workflows/zzz/jobs/a/logs', 404],
  ['/api/workflows/new/jobs/a/logs/raw', 404],
  ['/api/workflows/w/jobs/zzz/logs/raw', 404],
  ['/api/workflows/w/jobs/a/logs/raw?attempt=7', 404],
  ['/api/workflows/w/jobs/a/logs/raw?limit=7', 400],
  ['/api/workflows/new/jobs/a/logs/stream', 404],
  ['/api/workflows/w/jobs/zzz/logs/stream', 404],
  ['/api/workflows/w/jobs/a/logs/stream?after=1', 400],
  ['/api/runs/00000000-0000-7000-8000-000000000000/jobs/a/logs', 404],
])('%s is answered with %i', async (path, status) => {
  expect((await api.ask('GET', path)).status).toBe(status);
});

// Logs that workers push over HTTP: what is stored of them, whatever is pushed, how often, and by which api.
import type { Claimed } from '@wfg/shared/contract/queued-job';
import { LogChunk } from '@wfg/shared/contract/log';
import { reapExpired } from '@wfg/shared/queries/reap';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { startApi, type TestApi } from '../../support/api.ts';
import { moveClock } from '../../support/engine.ts';
import { claimedHttp, emptyTables, startGraph, tell } from '../../support/foreign.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;
let apis: [TestApi, TestApi];
let api: TestApi;

const LIMIT = 65_536;

beforeAll(async () => {
  db = await testDatabase();
  const env = { LOG_MAX_BYTES: String(LIMIT) };
  apis = await Promise.all([startApi(db.url, env), startApi(db.url, env)]);
  [api] = apis;
});

afterAll(async () => {
  for (const one of apis) await one[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

beforeEach(() => emptyTables(db.pool));

async function claimOne(max_retries = 0): Promise<Claimed> {
  await startGraph(api, [{ id: 'a', max_retries }]);
  return claimedHttp(api);
}

function chunk(sequence: number, data = `line ${sequence}\n`, more: Record<string, unknown> = {}) {
  return {
    workflow_id: 'w',
    job_id: 'a',
    sequence,
    data,
    timestamp_ms: 1_000 + sequence,
    stream: 'stdout',
    ...more,
  };
}

/** Pushes, and gives the number that comes next. */
async function push(claimed: Claimed, chunks: unknown[], by = api): Promise<unknown> {
  const { status, body } = await tell(by, claimed, 'logs', { chunks });
  return status === 200 ? Object(body).next_sequence : { status, ...Object(body) };
}

async function stored(attempt?: number): Promise<LogChunk[]> {
  const query = attempt === undefined ? '' : `&attempt=${attempt}`;
  const { body } = await api.ask('GET', `/api/workflows/w/jobs/a/logs?limit=10000${query}`);
  return z.array(LogChunk).parse(body);
}

async function text(): Promise<string> {
  return (await stored()).map(({ data }) => data).join('');
}

test('what is pushed is read back in order, with the lines counted over both streams', async () => {
  const claimed = await claimOne();
  expect(await push(claimed, [chunk(0), chunk(1, 'oops\n', { stream: 'stderr' })])).toBe(2);
  expect(await push(claimed, [chunk(2, 'a\nb')])).toBe(3);
  expect(await push(claimed, [chunk(3, 'b\n')])).toBe(4);
  const of = { workflow_id: 'w', run_id: claimed.job.run_id, job_id: 'a', attempt: 0 };
  expect(await stored()).toEqual([
    { ...of, sequence: 0, line: 1, data: 'line 0\n', timestamp_ms: 1_000, stream: 'stdout' },
    { ...of, sequence: 1, line: 2, data: 'oops\n', timestamp_ms: 1_001, stream: 'stderr' },
    { ...of, sequence: 2, line: 3, data: 'a\nb', timestamp_ms: 1_002, stream: 'stdout' },
    { ...of, sequence: 3, line: 4, data: 'b\n', timestamp_ms: 1_003, stream: 'stdout' },
  ]);
  await tell(api, claimed, 'complete');
  const { body } = await api.ask('GET', `/api/runs/${claimed.job.run_id}/jobs/a/attempts`);
  expect(body).toMatchObject([{ log: { chunks: 4, lines: 4, bytes: 17 } }]);
  expect(await push(claimed, [chunk(4)])).toMatchObject({ status: 409 });
});

test('a push that is repeated is not doubled, one that is lost is told of, one that is late is too late', async () => {
  const claimed = await claimOne();
  expect(await push(claimed, [chunk(0), chunk(1)])).toBe(2);
  expect(await push(claimed, [chunk(0), chunk(1)], apis[1])).toBe(2);
  expect(await push(claimed, [chunk(6), chunk(5)], apis[1])).toBe(7);
  expect(await push(claimed, [chunk(2), chunk(3), chunk(4)])).toBe(7);
  expect(await push(claimed, [])).toBe(7);
  const told = 'line 0\nline 1\n[wfg] 3 chunks of this log got lost\nline 5\nline 6\n';
  expect(await text()).toBe(told);
});

test('however many push the same at once, to any api, each line is there once and in order', async () => {
  const claimed = await claimOne();
  const all = Array.from({ length: 60 }, (_, n) => chunk(n));
  for (let from = 0; from < 60; from += 10) {
    const pushes = Array.from({ length: 8 }, (_, n) => push(claimed, all.slice(0, from + 10), apis[n % 2]));
    expect(new Set(await Promise.all(pushes))).toEqual(new Set([from + 10]));
  }
  const rows = await stored();
  expect(rows.map(({ data }) => data)).toEqual(all.map(({ data }) => data));
  expect(rows.map(({ sequence }) => sequence)).toEqual(all.map((_, n) => n));
  expect(rows.map(({ line }) => line)).toEqual(all.map((_, n) => n + 1));
});

test('numbers begin anew with every attempt, and logs of attempts do not mix', async () => {
  const first = await claimOne(2);
  await push(first, [chunk(0, 'first\n')]);
  await tell(api, first, 'fail', { error: 'x', retryable: true });
  const second = await claimedHttp(api);
  expect(await push(second, [chunk(0, 'second\n')])).toBe(1);
  await moveClock(db.pool, '31 s');
  await reapExpired(db.pool, 10);
  expect(await push(second, [chunk(1)])).toMatchObject({ status: 409 });
  const third = await claimedHttp(api);
  expect(await push(first, [chunk(1)])).toMatchObject({ status: 409, code: 'lease_lost' });
  expect(await push(third, [chunk(0, 'third\n')])).toBe(1);
  expect((await stored()).map(({ attempt, data }) => [attempt, data])).toEqual([
    [0, 'first\n'],
    [1, 'second\n'],
    [2, 'third\n'],
  ]);
  const { body } = await api.ask('GET', `/api/runs/${first.job.run_id}/jobs/a/attempts`);
  expect(body).toMatchObject([{ log: { chunks: 1 } }, { outcome: 'lost', log: { chunks: 1 } }, {}]);
});

test('what is of another job is refused, whole', async () => {
  const claimed = await claimOne();
  for (const other of [{ job_id: 'b' }, { workflow_id: 'v' }, { run_id: 'r' }, { attempt: 1 }]) {
    const [name] = Object.keys(other);
    expect(await push(claimed, [chunk(0), chunk(1, 'x', other)])).toMatchObject({
      status: 422,
      errors: [{ path: `chunks.1.${name}` }],
    });
  }
  expect(await push(claimed, [chunk(0, 'x', { stream: 'stdin' })])).toMatchObject({ status: 422 });
  expect(await push(claimed, [chunk(-1)])).toMatchObject({ status: 422 });
  expect(await push(claimed, [chunk(2 ** 53)])).toMatchObject({ status: 422 });
  expect(await push(claimed, [chunk(0, 'x', { timestamp_ms: 1e15 })])).toMatchObject({ status: 422 });
  expect(await stored()).toEqual([]);
  const own = { run_id: claimed.job.run_id, attempt: 0, line: 1 };
  expect(await push(claimed, [chunk(0, 'x\n', own)])).toBe(1);
  // As far as numbers and times go.
  expect(await push(claimed, [chunk(2 ** 52, 'y\n', { timestamp_ms: 253_402_300_799_999 })])).toBe(
    2 ** 52 + 1,
  );
  expect((await stored()).at(-1)).toMatchObject({ data: 'y\n', timestamp_ms: 253_402_300_799_999 });
});

test('what no text can hold is made visible', async () => {
  const claimed = await claimOne();
  await push(claimed, [chunk(0, 'a\0b\ud800\n')]);
  expect(await text()).toBe('a␀b\ufffd\n');
});

test('beyond the limit nothing is kept, which the log says; pushing goes on all the same', async () => {
  const claimed = await claimOne();
  const line = `${'x'.repeat(999)}\n`;
  expect(
    await push(
      claimed,
      Array.from({ length: 70 }, (_, n) => chunk(n, line)),
    ),
  ).toBe(70);
  expect(await push(claimed, [chunk(70), chunk(80)])).toBe(81);
  const log = await text();
  expect(log.startsWith(line.repeat(65))).toBe(true);
  const notice = `\n[wfg] log limit of ${LIMIT} bytes reached; later output is dropped\n`;
  expect(log.slice(65_000)).toBe(`${line.slice(0, 536)}${notice}`);
});

test('a large push is taken, one that is too large is not', async () => {
  const claimed = await claimOne();
  const large = 'x'.repeat(1_000_000);
  expect(await push(claimed, [chunk(0, large), chunk(1, large), chunk(2, large)])).toBe(3);
  const over = Array.from({ length: 5 }, (_, n) => chunk(3 + n, large));
  expect(await push(claimed, over)).toMatchObject({ status: 413, code: 'too_large' });
});

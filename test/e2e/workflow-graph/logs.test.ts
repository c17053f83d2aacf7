// Logs that a worker pushes, read and followed on either of two apis: rows 72 to 79.
import { LogChunk } from '@wfg/shared/contract/log';
import type { Claimed } from '@wfg/shared/contract/queued-job';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openStream, type TestStream } from '../../support/event-stream.ts';
import { startWalk, type Walk } from '../../support/graph-user.ts';
import { waitFor } from '../../support/wait-for.ts';

let walk: Walk;
/** The URL of the second api. */
let other: string;
/** The first that a stream sends which has nothing to tell. It takes its time, so the other tests run meanwhile. */
let silence: Promise<string>;

beforeAll(async () => {
  walk = await startWalk({ counts: { api: 2, reaper: 0, worker: 0 } });
  other = String((await walk.cluster.of('api')[1]?.logged('listening'))?.url);
  const jobs = { a: { run: 'true', labels: ['nobody'] } };
  const { body } = await walk.ask('POST', '/api/runs', { name: 'silent', jobs });
  silence = firstOf(`${walk.cluster.url}/api/runs/${Object(body).run_id}/jobs/a/logs/stream`);
});

afterAll(() => walk[Symbol.asyncDispose]());
afterEach(() => walk.leave());

const line = (n: number) => `line ${n}\n`;
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

function chunk({ job }: Claimed, sequence: number, more: Record<string, unknown> = {}) {
  const { workflow_id, job_id } = job;
  return {
    workflow_id,
    job_id,
    sequence,
    data: line(sequence),
    timestamp_ms: 1_000 + sequence,
    stream: 'stdout',
    ...more,
  };
}

const push = (claimed: Claimed, ...chunks: unknown[]) => walk.tell(claimed, 'logs', { chunks });
const pushLines = (claimed: Claimed, from: number, to: number) =>
  push(claimed, ...numbers(from, to).map((n) => chunk(claimed, n)));

async function stored(id: string, job = 'a', query = ''): Promise<LogChunk[]> {
  const { body } = await walk.ask('GET', `/api/workflows/${id}/jobs/${job}/logs${query}`);
  return z.array(LogChunk).parse(body);
}

const logsPath = (id: string, job = 'a') => `/api/workflows/${id}/jobs/${job}/logs/stream`;

/** The lines that came so far, each chunk as it is. */
const seen = ({ events }: TestStream) =>
  events.flatMap(({ event, data }) => (event === 'log' ? LogChunk.parse(data) : []));
const texts = (chunks: readonly LogChunk[]) => chunks.map(({ data }) => data);

test('72: what is pushed is read back in order', async () => {
  const { id, run } = await walk.start({ id: 'a' });
  const claimed = await walk.claimed();
  expect(await pushLines(claimed, 0, 3)).toEqual({ status: 200, body: { next_sequence: 3 } });
  const last = await push(claimed, chunk(claimed, 3, { stream: 'stderr' }), chunk(claimed, 4));
  expect(last.body).toEqual({ next_sequence: 5 });
  const all = await stored(id);
  expect(texts(all)).toEqual(numbers(0, 5).map(line));
  expect(all[3]).toEqual({
    workflow_id: id,
    run_id: run,
    job_id: 'a',
    attempt: 0,
    sequence: 3,
    line: 4,
    data: 'line 3\n',
    timestamp_ms: 1_003,
    stream: 'stderr',
  });
  await walk.tell(claimed, 'complete');
  expect(await stored(id)).toEqual(all);
  expect(texts(await stored(id, 'a', '?after=0:2&limit=1'))).toEqual(['line 3\n']);
  expect((await walk.ask('GET', `/api/workflows/${id}/jobs/a/logs/raw`)).body).toBe(
    numbers(0, 5).map(line).join(''),
  );
  expect((await walk.ask('GET', `/api/workflows/${id}/jobs/none/logs`)).status).toBe(404);
});

test('73: only the holder of a lease adds to a log, and only to that of its own job', async () => {
  const { id } = await walk.start({ id: 'a' }, { id: 'b' });
  const [a, b] = [await walk.claimed(), await walk.claimed()];
  expect(await push(a, chunk(b, 0))).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'chunks.0.job_id' }] },
  });
  expect((await push(a, chunk(a, 0), chunk(a, 1, { workflow_id: 'ci-1' }))).status).toBe(422);
  const forged = { ...a, lease: { ...a.lease, lease_id: b.lease.lease_id.replace(/\d$/, '') } };
  expect((await push(forged, chunk(a, 0))).status).toBe(409);
  await walk.tell(b, 'complete');
  expect((await push(b, chunk(b, 0))).status).toBe(409);
  expect([await stored(id, 'a'), await stored(id, 'b')]).toEqual([[], []]);
});

test('74: the log of an attempt stands wholly before that of the next', async () => {
  const { id } = await walk.start({ id: 'a', max_retries: 1 });
  const first = await walk.claimed();
  await pushLines(first, 0, 3);
  await walk.tell(first, 'fail', { error: 'no', retryable: true });
  const second = await walk.claimed();
  await pushLines(second, 0, 2);
  expect((await pushLines(first, 3, 4)).status).toBe(409);
  const places = (await stored(id)).map(({ attempt, sequence, line: at }) => [attempt, sequence, at]);
  expect(places).toEqual([
    [0, 0, 1],
    [0, 1, 2],
    [0, 2, 3],
    [1, 0, 1],
    [1, 1, 2],
  ]);
  expect(await stored(id, 'a', '?attempt=1')).toHaveLength(2);
});

test('75: what is pushed twice is there once, and what got lost is told of', async () => {
  const { id } = await walk.start({ id: 'a' });
  const claimed = await walk.claimed();
  await pushLines(claimed, 0, 3);
  expect((await pushLines(claimed, 0, 3)).body).toEqual({ next_sequence: 3 });
  expect((await pushLines(claimed, 2, 5)).body).toEqual({ next_sequence: 5 });
  expect((await pushLines(claimed, 7, 8)).body).toEqual({ next_sequence: 8 });
  expect(texts(await stored(id))).toEqual([
    ...numbers(0, 5).map(line),
    expect.stringContaining('2 chunks'),
    line(7),
  ]);
});

test('76, 77, 79: followers on any api get all lines of their job alone, once and in order, whenever they come', async () => {
  const { id } = await walk.start({ id: 'a' }, { id: 'b' });
  const [a, b] = [await walk.claimed(), await walk.claimed()];
  await pushLines(a, 0, 50);
  const followers: TestStream[] = [];
  for (let from = 50; from < 1_000; from += 50) {
    await Promise.all([pushLines(a, from, from + 50), pushLines(b, from - 50, from)]);
    if (from % 200 !== 0) continue;
    for (const url of [walk.cluster.url, other]) followers.push(await openStream(url + logsPath(id)));
  }
  const whole = numbers(0, 1_000).map(line).join('');
  for (const follower of followers) {
    await waitFor('all lines', () => texts(seen(follower)).join('').length >= whole.length);
    const chunks = seen(follower);
    expect(texts(chunks).join('')).toBe(whole);
    expect(new Set(chunks.map(({ job_id }) => job_id))).toEqual(new Set(['a']));
    expect(follower.events.map(({ id: place }) => place)).toEqual(
      chunks.map(({ sequence }) => `0:${sequence}`),
    );
  }
  await walk.tell(a, 'complete');
  for (const follower of followers) {
    await follower.ended;
    expect(follower.events.at(-1)).toMatchObject({ event: 'end', data: { state: 'completed', attempt: 0 } });
    expect(texts(seen(follower)).join('')).toBe(whole);
  }
});

test('78: a stream ends with its job, and is resumed behind the last line that came', async () => {
  const { id } = await walk.start({ id: 'a', max_retries: 1 });
  const first = await walk.claimed();
  await pushLines(first, 0, 3);
  const cut = await openStream(walk.cluster.url + logsPath(id));
  await waitFor('the first lines', () => cut.events.length === 3);
  cut.leave();
  await walk.tell(first, 'fail', { error: 'no', retryable: true });
  const second = await walk.claimed();
  await pushLines(second, 0, 2);
  const resumed = await openStream(other + logsPath(id), { 'last-event-id': cut.events.at(-2)?.id ?? '' });
  await waitFor('the rest', () => resumed.events.length === 3);
  await walk.tell(second, 'fail', { error: 'no' });
  await resumed.ended;
  expect(resumed.events.map(({ event, id: place }) => place ?? event)).toEqual(['0:2', '1:0', '1:1', 'end']);
  const late = await openStream(other + logsPath(id), { 'last-event-id': '1:1' });
  await late.ended;
  expect(late.events).toEqual([{ event: 'end', id: null, data: { state: 'failed', attempt: 1, chunks: 2 } }]);
});

test('78: a silent stream is kept alive by comments', async () => {
  expect(await silence).toMatch(/^:/);
});

/** What comes up to the first empty line. */
async function firstOf(url: string): Promise<string> {
  const response = await fetch(url);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('\n\n')) text += (await reader?.read())?.value ?? '';
  await reader?.cancel();
  return text;
}

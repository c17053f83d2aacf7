// A log against a client that does not read: what is made for it is bounded.
import { readAttempts } from '@wfg/shared/queries/attempts';
import type { ClaimedJob } from '@wfg/shared/queries/claim';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rawLogResponse } from '../../../services/api/src/http/log-response.ts';
import { createFeeds, type Feeds } from '../../../services/api/src/live/feeds.ts';
import { createHub, type Hub } from '../../../services/api/src/live/hub.ts';
import { logStream } from '../../../services/api/src/live/log-stream.ts';
import { advance, claim, finish, print, submit } from '../../support/engine.ts';
import { noWatch } from '../../support/no-watch.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const BEAT_MS = 15_000;
const COMMENT = ':\n\n';

let db: TestDatabase;
let hub: Hub;
let feeds: Feeds;
let run: string;
let job: ClaimedJob;
let reader: ReadableStreamDefaultReader<Uint8Array>;
/** Statements that were made for the stream. */
let reads: number;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  db = await testDatabase();
  hub = createHub({ viewers: 100, viewersOfOne: 100 });
  run = await submit(db.pool, { a: {} });
  const [claimed] = await claim(db.pool, { limit: 1 });
  if (!claimed) throw new Error('nothing to claim');
  job = claimed;
  const attempts = await readAttempts(db.pool, run, 'a');
  if (!attempts) throw new Error('no attempts');
  const log = pino({ level: 'silent' });
  feeds = createFeeds({ pool: db.pool, log, pollMs: () => 1_000, watch: noWatch });
  const settings = { pool: db.pool, log, hub, feeds, credential: null };
  reader = logStream(attempts, undefined, settings).getReader();
  reads = 0;
  db.pool.on('acquire', () => reads++);
});

afterEach(async () => {
  await reader.cancel();
  await hub.close();
  await feeds[Symbol.asyncDispose]();
  vi.useRealTimers();
  await db[Symbol.asyncDispose]();
});

async function next(): Promise<string> {
  const { value } = await reader.read();
  return new TextDecoder().decode(value);
}

test('nothing is read before it is asked for, and one page at most that is not taken', async () => {
  await print(db.pool, job, 0, 200, (sequence) => `${sequence}:${'x'.repeat(10_000)}\n`);
  await finish(db.pool, job, { log_chunks: 200, log_lines: 400, log_bytes: 400 });
  await advance(db.pool);
  reads = 0;
  expect(hub.count()).toBe(0);
  expect(await next()).toMatch(/^event: log\nid: 0:0\n/);
  for (let n = 0; n < 100; n++) feeds.hear({ v: 1, all: true });
  vi.advanceTimersByTime(BEAT_MS);
  // The attempts and their first page.
  expect(reads).toBe(2);
  for (let n = 1; n < 200; n++) expect(await next()).toContain(`id: 0:${n}\n`);
  expect(await next()).toBe('event: end\ndata: {"state":"completed","attempt":0,"chunks":200}\n\n');
  expect(await reader.read()).toMatchObject({ done: true });
  await waitFor('it to be over', () => hub.count() === 0);
});

test('no more of a text is read than its client takes', async () => {
  await print(db.pool, job, 0, 200, (sequence) => `${sequence}:${'x'.repeat(10_000)}\n`);
  reads = 0;
  const { body } = await rawLogResponse({ pool: db.pool, feeds }, run, 'a', undefined);
  const text = body?.pipeThrough(new TextDecoderStream()).getReader();
  let taken = (await text?.read())?.value ?? '';
  // Time enough to read on.
  for (let n = 0; n < 20; n++) await db.pool.query('select');
  expect(reads).toBe(3 + 20);
  for (let piece = await text?.read(); piece?.value !== undefined; piece = await text?.read())
    taken += piece.value;
  expect(taken.match(/^\d+(?=:)/gm)).toEqual(Array.from({ length: 200 }, (_, n) => String(n)));
  expect(reads).toBe(3 + 20 + 3 * 2);
});

/** The feeds, and how many logs are open in them. */
function countingFeeds() {
  let count = 0;
  const counting: Feeds = {
    ...feeds,
    openLog(ofRun, name) {
      const opened = feeds.openLog(ofRun, name);
      count++;
      return {
        feed: opened.feed,
        [Symbol.dispose]() {
          count--;
          opened[Symbol.dispose]();
        },
      };
    },
  };
  return { counting, count: () => count };
}

test('a text that nobody reads, or not to its end, holds nothing', async () => {
  await print(db.pool, job, 0, 200, (sequence) => `${sequence}:${'x'.repeat(10_000)}\n`);
  const { counting, count } = countingFeeds();
  const ask = () => rawLogResponse({ pool: db.pool, feeds: counting }, run, 'a', undefined);
  const unread = await ask();
  expect(unread.status).toBe(200);
  expect(count()).toBe(0);
  await unread.body?.cancel();
  const text = (await ask()).body?.getReader();
  await text?.read();
  expect(count()).toBe(1);
  await text?.cancel();
  expect(count()).toBe(0);
});

test('a text that was removed is not taken for one that has ended', async () => {
  const twice = await submit(db.pool, { a: { retries: 1 } });
  for (let attempt = 0; attempt < 2; attempt++) {
    const [again] = await claim(db.pool, { limit: 1 });
    if (!again) throw new Error('nothing to claim');
    await print(db.pool, again, 0, 5);
    await finish(db.pool, again, { outcome: 'failed', log_chunks: 5, log_lines: 10, log_bytes: 10 });
  }
  await db.pool.query('delete from wfg_logs where run_id = $1 and attempt = 0 and sequence >= 3', [twice]);
  const { body } = await rawLogResponse({ pool: db.pool, feeds }, twice, 'a', 0);
  await expect(new Response(body).text()).rejects.toThrow('ends early');
});

test('a silent stream says every 15 s that it is there', async () => {
  for (let n = 0; n < 3; n++) {
    const text = next();
    await waitFor('it to be followed', () => reads >= 2);
    vi.advanceTimersByTime(BEAT_MS);
    expect(await text).toBe(COMMENT);
  }
  const text = next();
  await print(db.pool, job, 0, 1);
  feeds.hear({ v: 1, logs: [`${run}-0`] });
  expect(await text).toMatch(/^event: log\nid: 0:0\n/);
});

test('who leaves while a chunk waits for him is let go', async () => {
  await print(db.pool, job, 0, 5);
  await next();
  expect(hub.count()).toBe(1);
  await reader.cancel();
  await waitFor('him to be gone', () => hub.count() === 0);
});

test('who takes nothing for two minutes is not waited for', async () => {
  await print(db.pool, job, 0, 5);
  await next();
  vi.advanceTimersByTime(7 * BEAT_MS);
  expect(hub.count()).toBe(1);
  vi.advanceTimersByTime(BEAT_MS);
  await waitFor('him to be gone', () => hub.count() === 0);
  expect(await reader.read()).toMatchObject({ done: true });
});

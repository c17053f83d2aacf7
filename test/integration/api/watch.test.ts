// Who follows a log is rung for, as long as they do; what foreign workers print is rung only to them.
import { once } from 'node:events';
import { jobKey } from '@wfg/shared/contract/job-key';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { type Ear, listener } from '../../support/ear.ts';
import { submit } from '../../support/engine.ts';
import { openStream } from '../../support/event-stream.ts';
import { claimedHttp, emptyTables, startGraph, tell } from '../../support/foreign.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { dial } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ring } from '../../support/worker.ts';

let db: TestDatabase;
let api: TestApi;
let ear: Ear;
/** On which it is heard what comes from now on. */
let since: number;

beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url);
  ear = await listener(db.url);
});

afterAll(async () => {
  await ear[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await emptyTables(db.pool);
  since = ear.bells.length;
});

const bells = () => ear.bells.slice(since);
const watched = (key: string) => bells().filter(({ watch }) => watch?.includes(key)).length;
const rung = (key: string) => bells().filter(({ logs }) => logs?.includes(key)).length;

test('a subscription is rung for at once and again, and no more when it is over', async () => {
  const run = await submit(db.pool, { a: {}, b: {} });
  const [a, b] = [1, 2].map((position) => jobKey({ run_id: run, position }));
  if (!a || !b) throw new Error('no keys');
  const socket = dial(api.url);
  try {
    await once(socket, 'open');
    for (const job of ['a', 'b'])
      socket.send(JSON.stringify({ op: 'subscribe', id: job, topic: 'logs', run, job }));
    await waitFor('both to be rung for', () => watched(a) > 0 && watched(b) > 0);
    socket.send(JSON.stringify({ op: 'unsubscribe', id: 'a' }));
    const before = watched(a);
    await waitFor('b to be rung for again, twice', () => watched(b) === 3, 60_000);
    expect(watched(a)).toBeLessThanOrEqual(before + 1);
    expect(watched(a)).toBeLessThan(watched(b));
  } finally {
    socket.terminate();
  }
});

test('a stream is rung for too', async () => {
  const run = await submit(db.pool, { a: {} });
  const key = jobKey({ run_id: run, position: 1 });
  const stream = await openStream(`${api.url}/api/runs/${run}/jobs/a/logs/stream`);
  expect(await waitFor('it to be rung for', () => watched(key) > 0)).toBe(true);
  stream.leave();
});

test('what a foreign worker pushes is rung to who follows it', async () => {
  const run = await startGraph(api, [{ id: 'a' }]);
  const claimed = await claimedHttp(api);
  const key = jobKey({ run_id: run, position: 1 });
  const push = async (sequence: number) => {
    const chunk = { workflow_id: 'w', job_id: 'a', sequence, data: 'x\n', timestamp_ms: 1, stream: 'stdout' };
    expect(await tell(api, claimed, 'logs', { chunks: [chunk] })).toMatchObject({ status: 200 });
  };
  await push(0);
  await ring(db.pool, JSON.stringify({ v: 1, watch: [key], runs: ['mark'] }));
  await waitFor('the mark', () => bells().some(({ runs }) => runs?.includes('mark')));
  expect(rung(key)).toBe(0);
  await push(1);
  await waitFor('it to be rung', () => rung(key) > 0);
});

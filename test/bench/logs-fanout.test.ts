// How many messages a second an api sends to a thousand viewers of one log, beside what `ws` alone sends to as many.
// Prints rates and their ratio; asserts only that all came.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscribe } from '@wfg/shared/contract/live';
import { expect, test } from 'vitest';
import { startApi } from '../support/api.ts';
import { claim, print, submit } from '../support/engine.ts';
import { testDatabase } from '../support/postgres.ts';
import { report } from '../support/report.ts';
import { startBareServer, startViewers } from './viewers/viewers.ts';

const VIEWERS = 1_000;
const CHUNKS = 120;
const ROUNDS = 9;
const SETTLE_MS = 5_000;
const LINE = `${'x'.repeat(119)}\n`;

test('a thousand viewers of one log', { timeout: 900_000 }, async () => {
  await using database = await testDatabase();
  await using api = await startApi(database.url, { LOG_LEVEL: 'info' });
  using bare = await startBareServer();
  const run = await submit(database.pool, { a: {} });
  const [job] = await claim(database.pool, { limit: 1 });
  if (!job) throw new Error('nothing to claim');
  const subscribe: Subscribe = { op: 'subscribe', id: 'log', topic: 'logs', run, job: 'a' };
  using viewers = await startViewers(`${api.url.replace('http', 'ws')}/ws`, VIEWERS, subscribe);
  using others = await startViewers(bare.url, VIEWERS);
  const frame = { id: 'log', op: 'log', attempt: 0, sequence: 1_000, line: 1_000, stream: 'stdout' };
  const text = JSON.stringify({ ...frame, timestamp_ms: Date.now(), data: LINE });
  let printed = 0;

  /** Messages a second. */
  async function rate(send: () => Promise<void>, to: typeof viewers): Promise<number> {
    const received = to.receive(VIEWERS * CHUNKS);
    const startedAt = performance.now();
    await send();
    await received;
    return (VIEWERS * CHUNKS) / ((performance.now() - startedAt) / 1_000);
  }

  async function printChunks(): Promise<void> {
    if (!job) return;
    await print(database.pool, job, printed, printed + CHUNKS, () => LINE);
    await database.pool.query(`select pg_notify('wfg_events', $1)`, [
      JSON.stringify({ v: 1, logs: [`${run}-${job.position}`] }),
    ]);
    printed += CHUNKS;
  }

  const floor = async () => bare.send({ messages: CHUNKS, text });
  // Each has been sent by then that an attempt has begun.
  await sleep(SETTLE_MS);
  await viewers.report();
  await rate(printChunks, viewers);
  await rate(floor, others);
  const rates: { api: number; floor: number }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    rates.push({ api: await rate(printChunks, viewers), floor: await rate(floor, others) });
  report(
    'messages a second, api',
    rates.map((one) => one.api),
    0,
  );
  report(
    'messages a second, ws alone',
    rates.map((one) => one.floor),
    0,
  );
  report(
    'api / ws alone',
    rates.map((one) => one.api / one.floor),
    2,
  );
  expect(rates).toHaveLength(ROUNDS);
});

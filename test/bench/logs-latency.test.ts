// From a line that a command prints to the sockets of those who watch it, at 10,000 lines a second, through a worker, the
// database and an api. Prints milliseconds; asserts only that what was printed came.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscribe } from '@wfg/shared/contract/live';
import { expect, test } from 'vitest';
import { startApi } from '../support/api.ts';
import { testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { report } from '../support/report.ts';
import { runsOf } from '../support/runs.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWorker } from '../support/worker.ts';
import { type Report, startViewers } from './viewers/viewers.ts';

const ROUNDS = 5;
const ROUND_MS = 3_000;
/** Until those who come have what was printed before. */
const SETTLE_MS = 10_000;
/** Every 10 ms a hundred lines, each with the time it is printed. */
const PRINTER = `
const end = Date.now() + 120_000;
let due = Date.now();
const print = () => {
  for (; due <= Date.now(); due += 10) {
    let text = '';
    for (let n = 0; n < 100; n++) text += Date.now() + process.env.FILL + '\\n';
    process.stdout.write(text);
  }
  if (Date.now() < end) setTimeout(print, 5);
};
print();`;

test.each([
  { viewers: 1, lineBytes: 120 },
  { viewers: 100, lineBytes: 120 },
  { viewers: 1_000, lineBytes: 16 },
])('$viewers viewers', { timeout: 300_000 }, async ({ viewers: count, lineBytes }) => {
  await using database = await testDatabase();
  await using stack = new AsyncDisposableStack();
  const api = stack.use(await startApi(database.url, { LOG_LEVEL: 'info' }));
  stack.use(startService('scheduler', { DATABASE_URL: database.url, LOG_LEVEL: 'info' }));
  stack.use(startWorker(database.url, { LOG_LEVEL: 'info' }));
  const { submit, run: read } = runsOf({ url: api.url });
  const FILL = 'x'.repeat(lineBytes - 14);
  const node = JSON.stringify(process.execPath);
  const run = await submit({
    name: 'printer',
    jobs: {
      a: { run: `${node} -e '${PRINTER.replaceAll("'", '"').replaceAll('"\\n"', "'\\n'")}'`, env: { FILL } },
    },
  });
  await waitFor('it to begin', async () => (await read(run)).jobs.some(({ state }) => state === 'active'));
  const subscribe: Subscribe = { op: 'subscribe', id: 'log', topic: 'logs', run, job: 'a' };
  using viewers = await startViewers(`${api.url.replace('http', 'ws')}/ws`, count, subscribe);
  await sleep(SETTLE_MS);
  await viewers.report();
  const reports: Report[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await sleep(ROUND_MS);
    reports.push(await viewers.report());
  }
  const what = `${count} viewers, 10,000 lines of ${lineBytes} bytes a second`;
  for (const of of ['p50', 'p99', 'worst'] as const)
    report(
      `ms from line to socket, ${what}, ${of}`,
      reports.map((one) => one[of]),
      0,
    );
  const rates = reports.map(({ bytes }) => bytes / 1e3 / ROUND_MS);
  report(`MB a second, ${what}`, rates, 1);
  expect(Math.min(...rates)).toBeGreaterThan(0);
});

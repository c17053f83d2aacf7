// Pages of a log: bounded by rows and by bytes, and together all of it.
import type { LogChunk } from '@wfg/shared/contract/log';
import { readAttempts } from '@wfg/shared/queries/attempts';
import { readJobLog } from '@wfg/shared/queries/job-log';
import { appendLogs, type LogRow } from '@wfg/shared/queries/logs';
import { expect, test } from 'vitest';
import { claim, submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';

const KIB = 1024;

async function pagesOf(log: AsyncIterable<LogChunk[]>): Promise<LogChunk[][]> {
  const pages: LogChunk[][] = [];
  for await (const page of log) pages.push(page);
  return pages;
}

test.each([
  ['many small rows', 150, 10, [64, 64, 22]],
  ['the largest rows', 7, 64 * KIB, [3, 3, 1]],
  ['rows that fill a page', 64, 2 * KIB, [64]],
])('%s are read page by page', async (_, count, size, pages) => {
  await using db = await testDatabase();
  const run = await submit(db.pool, { a: {} });
  const [job] = await claim(db.pool, { limit: 1 });
  if (!job) throw new Error('nothing to claim');
  const rows = Array.from({ length: count }, (__, n): LogRow => {
    const data = `${n}\n`.padStart(size, 'x');
    const lines = n + 1;
    return { sequence: n, line: lines, lines, bytes: lines * size, at: new Date(0), stream: 'stdout', data };
  });
  await appendLogs(db.pool, [{ lease: job, day: job.started_at.toISOString().slice(0, 10), rows }]);
  const found = await readAttempts(db.pool, run, 'a');
  if (!found) throw new Error('no attempts');
  const read = await pagesOf(readJobLog(db.pool, found, {}));
  expect(read.map((page) => page.length)).toEqual(pages);
  expect(read.flat().map(({ sequence }) => sequence)).toEqual(rows.map(({ sequence }) => sequence));
  const some = await pagesOf(readJobLog(db.pool, found, { limit: 5 }));
  expect(some.flat()).toHaveLength(5);
});

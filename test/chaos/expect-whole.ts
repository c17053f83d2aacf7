// What a log of numbered lines must be when all is over: the same wherever one looks, in each chunk, and sealed as it is.
import type { Pool } from 'pg';
import { expect } from 'vitest';
import type { Cluster } from '../support/cluster.ts';
import { countingFaults, type Transcript } from './log-reader.ts';
import type { LogViewer, Watched } from './log-viewers.ts';
import { pagesOf, rawOf, rowsOf } from './stored-log.ts';

/** Fails unless the log is stored and was told as one whole: attempts with so many lines each, from 1 on. */
export async function expectWhole(
  cluster: Cluster,
  pool: Pool,
  watched: Watched,
  viewers: readonly LogViewer[],
  transcript: Transcript,
  lines: readonly number[],
): Promise<void> {
  const attempts = await cluster.attempts(watched.run, watched.job);
  const [pages, rows] = [await pagesOf(cluster, watched), await rowsOf(pool, watched)];
  expect(attempts.map((attempt) => attempt.log.lines)).toEqual(lines);
  const chunks = attempts.map((attempt) => attempt.log.chunks);
  const end = { state: 'completed', attempt: attempts.length - 1, chunks: chunks.at(-1) };
  for (const { name, reader } of viewers) {
    const told = { name, faults: reader.faults.slice(0, 10), chunks: reader.chunks, end: reader.end };
    expect(told).toMatchObject({ name, faults: [], chunks, end });
  }
  expect(rows.map(({ attempt, sequence }) => `${attempt}:${sequence}`)).toEqual(
    chunks.flatMap((count, attempt) =>
      Array.from({ length: count }, (_, sequence) => `${attempt}:${sequence}`),
    ),
  );
  // Compared by hand: a difference of millions of lines is of no use to anyone.
  expect(rows.findIndex((row, index) => !isSame(row, pages[index]))).toBe(-1);
  expect(pages).toHaveLength(rows.length);
  for (const { attempt, log: seal } of attempts) {
    const own = rows.filter((row) => row.attempt === attempt);
    expect(countingFaults(own, seal.lines)).toEqual([]);
    expect(countingFaults(transcript.chunks(attempt), seal.lines)).toEqual([]);
    const text = own.map(({ data }) => data).join('');
    expect(Buffer.byteLength(text)).toBe(seal.bytes);
    for (const url of cluster.urls) expect((await rawOf(url, watched, attempt)) === text).toBe(true);
  }
}

function isSame(a: { data: string; line: number }, b: { data: string; line: number } | undefined): boolean {
  return a.data === b?.data && a.line === b.line;
}

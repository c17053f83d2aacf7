// The memory of an api while twenty viewers and twenty downloads read a log of 1 GB. Prints how far it grew; asserts only
// that all was read.
import { readFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import type { Subscribe } from '@wfg/shared/contract/live';
import type { ClaimedJob } from '@wfg/shared/queries/claim';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { startApi } from '../support/api.ts';
import { claim, finish, submit } from '../support/engine.ts';
import { testDatabase } from '../support/postgres.ts';
import { startViewers } from './viewers/viewers.ts';

const CHUNKS = 16_384;
const CHUNK_BYTES = 65_536;
const READERS = 20;
const LINE_BYTES = 128;

/** Lines that cannot be compressed to nothing. */
const FILL = `
insert into wfg_logs (day, run_id, position, attempt, sequence, line, lines, bytes, at, stream, data)
select $1::date, $2::uuid, $3::int, 0, n, n * $5::bigint + 1, (n + 1) * $5::bigint, (n + 1) * ${CHUNK_BYTES}::bigint, now(), 'stdout',
  (select string_agg(rpad(md5(n::text || l) || md5(l::text || n), ${LINE_BYTES - 1}, md5(l::text)) || E'\\n', '' order by l)
    from generate_series(1, $5::int) l)
from generate_series(0, $4::int - 1) n`;

test('twenty viewers and twenty downloads of 1 GB', { timeout: 1_800_000 }, async () => {
  await using database = await testDatabase();
  const run = await submit(database.pool, { a: {} });
  const [job] = await claim(database.pool, { limit: 1 });
  if (!job) throw new Error('nothing to claim');
  await fill(database.pool, job);
  await using api = await startApi(database.url, { LOG_LEVEL: 'info', MALLOC_MMAP_THRESHOLD_: '32768' });
  const raw = `${api.url}/api/runs/${run}/jobs/a/logs/raw`;
  // What the first readers make it load is no growth.
  await (await fetch(`${api.url}/api/runs/${run}/jobs/a/logs?limit=20`)).text();
  const before = await residentOf(api.pid);
  let most = before;
  const watching = setInterval(() => {
    void residentOf(api.pid).then((now) => (most = Math.max(most, now)));
  }, 250);
  const subscribe: Subscribe = { op: 'subscribe', id: 'log', topic: 'logs', run, job: 'a' };
  using viewers = await startViewers(`${api.url.replace('http', 'ws')}/ws`, READERS, subscribe);
  const startedAt = performance.now();
  const [downloads] = await Promise.all([
    Promise.all(Array.from({ length: READERS }, () => download(raw))),
    // Each: that the attempt begins, its chunks, the end.
    viewers.receive(READERS * (CHUNKS + 2)),
  ]);
  const seconds = (performance.now() - startedAt) / 1_000;
  clearInterval(watching);
  console.log(
    `api memory: ${megabytes(before)} MB before, ${megabytes(most)} MB at most, grown by ${megabytes(most - before)} MB ` +
      `(${seconds.toFixed(0)} s, ${((2 * READERS * CHUNKS * CHUNK_BYTES) / 1e6 / seconds).toFixed(0)} MB/s)`,
  );
  expect(downloads).toEqual(Array.from({ length: READERS }, () => CHUNKS * CHUNK_BYTES));
});

function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(0);
}

async function fill(pool: Pool, job: ClaimedJob): Promise<void> {
  const day = job.started_at.toISOString().slice(0, 10);
  const lines = CHUNK_BYTES / LINE_BYTES;
  const values = [day, job.run_id, job.position, CHUNKS, lines];
  await pool.query(Object.assign({ text: FILL, values }, { query_timeout: 600_000 }));
  await finish(pool, job, {
    log_chunks: CHUNKS,
    log_lines: CHUNKS * lines,
    log_bytes: CHUNKS * CHUNK_BYTES,
  });
}

/** Bytes of it. */
async function download(url: string): Promise<number> {
  let bytes = 0;
  const { body } = await fetch(url);
  const sink = new Writable({
    write(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      done();
    },
  });
  await body?.pipeTo(Writable.toWeb(sink));
  return bytes;
}

async function residentOf(pid: number): Promise<number> {
  const [, pages] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
  return Number(pages) * 4_096;
}

// Lines a second that one worker stores of what commands print as fast as they can, beside a bare COPY of one row a line
// on the same server, in turn. Prints both rates and their ratio; asserts that every line is there, never a time.
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { copyIn } from '../support/copy-in.ts';
import { submit } from '../support/engine.ts';
import { testDatabase } from '../support/postgres.ts';
import { report } from '../support/report.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf, ring, startWorker } from '../support/worker.ts';

const ROUNDS = 5;
const LINES = 400_000;
/** Printed one write each. */
const SMALL_WRITES = 100_000;
const COPIED = 200_000;
const LINES_A_COPY = 10_000;
/** Of 120 bytes, numbered. */
const REST = ` info  request done: path=/api/v1/items status=200 ms=12 id=5f0c2a77d1e84b6f `.padEnd(108, '.');
const lineOf = (n: number) => `${String(n).padStart(11, '0')}${REST}\n`;
const print = (lines: number) => `seq -f '%011.0f${REST}' ${lines}`;

const CASES = [
  { name: 'one command', commands: 1, lines: LINES, run: print(LINES) },
  { name: 'four commands at once', commands: 4, lines: LINES / 4, run: print(LINES / 4) },
  {
    name: 'one command, a write a line',
    commands: 1,
    lines: SMALL_WRITES,
    run: `${print(SMALL_WRITES)} | awk '{ print; fflush() }'`,
  },
];

test('lines stored by a worker, and by a bare COPY', { timeout: 900_000 }, async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  await pool.query(`
    create table bare (run_id uuid, position int, attempt int, line bigint, at timestamptz, stream text, data text,
      primary key (run_id, position, attempt, line))`);
  const env = { LOG_LEVEL: 'info', WORKER_CONCURRENCY: '4', LOG_MAX_BYTES: String(2 ** 30) };
  await using worker = startWorker(url, env);
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
  const copies = await copiesOf(pool);
  const bares: number[] = [];
  const rates = CASES.map((): number[] => []);
  // The first round is not counted: code and plans get warm.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, one] of CASES.entries()) {
      const { rate, lines } = await printed(pool, one);
      expect(lines).toBe(one.commands * one.lines);
      if (round > 0) rates[index]?.push(rate);
    }
    const rate = await copied(pool, copies);
    if (round > 0) bares.push(rate);
  }
  report('lines a second by COPY, a row a line', bares, 0);
  for (const [index, { name }] of CASES.entries()) {
    const stored = rates[index] ?? [];
    report(`${name}: lines a second`, stored, 0);
    const ratios = stored.map((rate, round) => rate / (bares[round] ?? Number.NaN));
    report(`${name}: times the rate of COPY`, ratios, 2);
  }
});

/** From the first claim to the last report, by the database's clock; each line is there, in its place. */
async function printed(
  pool: Pool,
  { commands, lines, run }: (typeof CASES)[number],
): Promise<{ rate: number; lines: number }> {
  const jobs = Array.from({ length: commands }, (_, index) => [`j${index}`, { run }]);
  const id = await submit(pool, Object.fromEntries(jobs));
  await ring(pool);
  const secs = await waitFor(
    'the commands to end',
    async () => {
      const { rows } = await pool.query<{ secs: number }>(
        `select extract(epoch from max(finished_at) - min(started_at))::float8 as secs from wfg_jobs
         where run_id = $1 having bool_and(state = 'completed')`,
        [id],
      );
      return rows[0]?.secs;
    },
    300_000,
  );
  const { rows } = await pool.query<{ lines: number }>(
    `select count(*)::int as lines
     from (select string_agg(data, '' order by sequence) as text from wfg_logs where run_id = $1 group by position) log,
       string_to_table(rtrim(text, E'\n'), E'\n') with ordinality as printed (line, number)
     where number = split_part(line, ' ', 1)::int`,
    [id],
  );
  await pool.query('truncate wfg_logs');
  return { rate: (commands * lines) / secs, lines: rows[0]?.lines ?? 0 };
}

/** What is copied, each with the lines of one COPY. */
async function copiesOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ run: string }>('select wfg_uuid7() as run');
  const row = (n: number) =>
    `${rows[0]?.run}\t1\t0\t${n}\t2026-01-01 00:00:00Z\tstdout\t${lineOf(n).trimEnd()}\n`;
  return Array.from({ length: COPIED / LINES_A_COPY }, (_, copy) =>
    Array.from({ length: LINES_A_COPY }, (__, index) => row(copy * LINES_A_COPY + index + 1)).join(''),
  );
}

async function copied(pool: Pool, copies: readonly string[]): Promise<number> {
  const start = performance.now();
  for (const data of copies) await copyIn(pool, 'copy bare from stdin', data);
  const rate = COPIED / ((performance.now() - start) / 1_000);
  await pool.query('truncate bare');
  return rate;
}

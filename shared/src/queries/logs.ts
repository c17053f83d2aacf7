// Appending output to wfg_logs, fenced by the lease, and reading it back in order.
import type { LogStream } from '../contract/log.ts';
import type { Queryable } from '../db/pool.ts';
import { textArray } from '../db/text-array.ts';
import { heldBy, type Lease, leaseColumns } from './leases.ts';

/** The bounds of a page, and so of what is held for each of thousands of readers. */
const PAGE_ROWS = 64;
/** Behind the first row, which has at most 64 KiB. */
const PAGE_BYTES = 128 * 1024;

/** One row of an attempt's log; `lines` and `bytes` count the attempt up to its end. */
export interface LogRow {
  sequence: number;
  line: number;
  lines: number;
  bytes: number;
  at: Date;
  stream: LogStream;
  data: string;
}

interface LogAppend {
  lease: Lease;
  /** The day the attempt started (UTC, YYYY-MM-DD): its partition. */
  day: string;
  rows: readonly LogRow[];
}

// `on conflict do nothing` makes the repeat after an unclear commit harmless: the same sequence is the same chunk. Nothing
// is locked: what is in flight while the attempt is taken back is stored behind its seal, where nobody reads it.
const APPEND = `
with lease as (
  select l.run_id, l.position, l.attempt, l.index
  from unnest($1::uuid[], $2::int[], $3::int[], $4::bigint[])
    with ordinality as l (run_id, position, attempt, nonce, index)
  join wfg_jobs j on j.run_id = l.run_id and j.position = l.position
  where ${heldBy('l.attempt', 'l.nonce')}
), stored as (
  insert into wfg_logs (day, run_id, position, attempt, sequence, line, lines, bytes, at, stream, data)
  select c.day, l.run_id, l.position, l.attempt, c.sequence, c.line, c.lines, c.bytes, c.at, c.stream, c.data
  from unnest($5::int[], $6::date[], $7::int[], $8::bigint[], $9::bigint[], $10::bigint[], $11::timestamptz[],
    $12::text[], $13::text[]) as c (lease, day, sequence, line, lines, bytes, at, stream, data)
  join lease l on l.index = c.lease
  on conflict do nothing
)
select (index - 1)::int as index from lease`;

/**
 * Stores chunks of several attempts. Returns, for each append, whether its lease was still held: what is not held
 * was not stored and never will be.
 */
export async function appendLogs(db: Queryable, appends: readonly LogAppend[]): Promise<boolean[]> {
  const chunks = appends.flatMap(({ day, rows }, index) =>
    rows.map((row) => ({ ...row, day, lease: index + 1 })),
  );
  const { rows } = await db.query<{ index: number }>(APPEND, [
    ...leaseColumns(appends.map((append) => append.lease)),
    chunks.map((chunk) => chunk.lease),
    chunks.map((chunk) => chunk.day),
    chunks.map((chunk) => chunk.sequence),
    chunks.map((chunk) => chunk.line),
    chunks.map((chunk) => chunk.lines),
    chunks.map((chunk) => chunk.bytes),
    chunks.map((chunk) => chunk.at),
    chunks.map((chunk) => chunk.stream),
    textArray(chunks.map((chunk) => chunk.data)),
  ]);
  const held = new Set(rows.map((row) => row.index));
  return appends.map((_, index) => held.has(index));
}

// Measured by the running totals: what is left out is not even read.
const READ = `
select sequence, line, lines, bytes, at, stream, data, found
from (
  select sequence, line, lines, bytes, at, stream, data,
    count(*) over ()::int as found, bytes - first_value(bytes) over (order by sequence) as further
  from (
    select sequence, line, lines, bytes, at, stream, data from wfg_logs
    where day = $1::date and run_id = $2::uuid and position = $3::int and attempt = $4::int
      and sequence > $5::int and ($6::int is null or sequence < $6::int)
    order by sequence
    limit $7::int
  ) next
) measured
where further <= ${PAGE_BYTES}
order by sequence`;

interface LogRange {
  day: string;
  run_id: string;
  position: number;
  attempt: number;
  /** Rows behind this sequence; -1 for all. */
  after: number;
  /** The sealed count: nothing at or behind it is the attempt's. Null while it is open. */
  sealed: number | null;
  /** At most so many, if that is less than a page. */
  limit?: number;
}

/**
 * The next rows of one attempt, in order, at most a page of them, and whether there may be more. Where its day was dropped
 * one row stands for the rest: it says so, and ends the attempt for whoever follows it.
 */
export async function readLog(db: Queryable, range: LogRange): Promise<{ rows: LogRow[]; more: boolean }> {
  const { day, run_id, position, attempt, after, sealed, limit = PAGE_ROWS } = range;
  const most = Math.min(limit, PAGE_ROWS);
  const { rows } = await db.query<LogRow & { found: number }>(READ, [
    day,
    run_id,
    position,
    attempt,
    after,
    sealed,
    most,
  ]);
  const found = rows[0]?.found ?? 0;
  if (found === 0 && sealed !== null && after < sealed - 1 && (await isDropped(db, day)))
    return { rows: [expired(day, sealed)], more: false };
  return { rows, more: found === most || rows.length < found };
}

const DROPPED = `
select not exists (
  select from pg_inherits where inhparent = 'wfg_logs'::regclass and wfg_day_of(inhrelid) = $1::date) as dropped`;

async function isDropped(db: Queryable, day: string): Promise<boolean> {
  const { rows } = await db.query<{ dropped: boolean }>(DROPPED, [day]);
  return rows[0]?.dropped === true;
}

/** Takes the place of the last row. */
function expired(day: string, sealed: number): LogRow {
  const data = `[wfg] this log has expired: ${sealed} chunks of ${day} are kept no more\n`;
  const bytes = Buffer.byteLength(data);
  return { sequence: sealed - 1, line: 1, lines: 1, bytes, at: new Date(day), stream: 'stderr', data };
}

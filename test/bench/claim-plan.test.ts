// The claim's plan and time on a queue in which almost everything is somebody else's or not yet due. Prints the
// figures that stand above the statement; asserts the plan, never a time.
import { randomUUID } from 'node:crypto';
import { CLAIM } from '@wfg/shared/queries/claim';
import type pg from 'pg';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../support/postgres.ts';

const INSERT = `insert into wfg_jobs
  (run_id, position, state, kind, workflow_type, job_id, name, required_labels, run_at, finished_at, attempt, tries)`;

const OWN = `${INSERT}
select wfg_uuid7(), 1, 'pending', 'command', null, 'j', 'j', array[':command'],
  now() - interval '1 hour' + g * interval '1 ms', null, -1, 0
from generate_series(1, 20000) g`;

const FOREIGN = `${INSERT}
select wfg_uuid7(), 0, 'pending', 'event', 't' || g % 40, 'main', 'main', array[':event t' || g % 40],
  now() - interval '1 hour' + g * interval '1 ms', null, -1, 0
from generate_series(1, 1000000) g`;

const DELAYED = `${INSERT}
select wfg_uuid7(), 1, 'pending', 'command', null, 'j', 'j', array[':command'],
  now() + interval '1 hour' + g * interval '1 ms', null, -1, 0
from generate_series(1, 200000) g`;

const ENDED = `${INSERT}
select wfg_uuid7(), 1, 'completed', 'command', null, 'j', 'j', array[':command'],
  now() - interval '1 hour', now(), 0, 1
from generate_series(1, 500000) g`;

const ROUNDS = 15;

test('the claim reads indexes only, and as much of them with 1,700,000 foreign rows as without', async () => {
  await using database = await testDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(OWN);
    await client.query('vacuum analyze wfg_jobs');
    await report(client, '20,000 due in its own lane');
    for (const statement of [FOREIGN, DELAYED, ENDED]) await client.query(statement);
    await client.query('vacuum analyze wfg_jobs');
    await report(client, 'and 1,000,000 in 40 foreign lanes, 200,000 delayed, 500,000 ended');
    const plan = await explain(client, 4);
    console.log(plan);
    expect(plan).not.toMatch(/Seq Scan|Bitmap/);
    // Within its lane the index alone is read, as many entries as jobs are wanted.
    expect(plan).toMatch(/Index Only Scan using wfg_jobs_claim on wfg_jobs j_\d \(actual rows=4\.00/);
    const [, hit = '0', read = '0'] = /Buffers: shared hit=(\d+)(?: read=(\d+))?/.exec(plan) ?? [];
    // 42 lanes at about four pages each, and four claimed rows: nothing that grows with the backlog.
    expect(Number(hit) + Number(read)).toBeLessThan(600);
  } finally {
    await client.end();
  }
});

/** Times of whole claims in rolled-back transactions, so that each finds the same rows. */
async function report(client: pg.Client, what: string): Promise<void> {
  for (const limit of [1, 4, 200]) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++)
      times.push(await rolledBack(client, () => timed(client, limit)));
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor(share * (times.length - 1))]?.toFixed(2);
    console.log(`${what}; limit ${limit}: median ${at(0.5)} ms, range ${at(0)} to ${at(1)}`);
  }
}

async function timed(client: pg.Client, limit: number): Promise<number> {
  const start = performance.now();
  const { rowCount } = await client.query(CLAIM, parameters(limit));
  expect(rowCount).toBe(limit + 1);
  return performance.now() - start;
}

async function explain(client: pg.Client, limit: number): Promise<string> {
  const statement = `explain (analyze, buffers, timing off, costs off) ${CLAIM}`;
  return rolledBack(client, async () => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(statement, parameters(limit));
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
}

function parameters(limit: number): unknown[] {
  return [limit, [':command'], limit, 'explain', randomUUID(), '1', 30];
}

async function rolledBack<T>(client: pg.Client, fn: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    return await fn();
  } finally {
    await client.query('rollback');
  }
}

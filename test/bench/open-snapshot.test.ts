// How fast a backlog is drained while somebody else's transaction stays open, so that nothing dead can be removed: by
// two claimers that remember where they ended, and by two that do not; and graphs, by a claimer and a scheduler. Prints
// the rate in each quarter; asserts that all was done, never a time.
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { finishJobs } from '@wfg/shared/queries/finish';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { advance, claim, reportOf } from '../support/engine.ts';
import { testDatabase } from '../support/postgres.ts';
import { report } from '../support/report.ts';

const ROUNDS = 3;
const EVENTS = 40_000;
const RUNS = 2_000;
const JOBS_A_RUN = 3;
const BATCH = 100;
const LIMIT_MS = 1_800_000;

const FILL = `
insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, payload, run_at)
select wfg_uuid7(), 0, 'main', 't', 't', 'pending', 'event', array[':event t'], '{"amount":2500}',
  now() - interval '1 hour' + g * interval '1 ms'
from generate_series(1, $1::int) g`;

const SUBMIT = `
select count(wfg_submit('{"name":"chain","jobs":{"a":{"run":"true"},"b":{"run":"true","needs":["a"]},
  "c":{"run":"true","needs":["b"]}}}')) from generate_series(1, $1::int)`;

interface Drain {
  fill: (pool: Pool) => Promise<unknown>;
  total: number;
  /** Does one piece of the work and returns how much it was; 0: all is done. */
  works: ((pool: Pool) => Promise<number>)[];
}

const events = (remember: boolean): Drain => ({
  fill: (pool) => pool.query(FILL, [EVENTS]),
  total: EVENTS,
  works: ['w1', 'w2'].map((workerId) => {
    let memory = new ClaimMemory();
    return (pool) => {
      if (!remember) memory = new ClaimMemory();
      return workOff(pool, workerId, memory);
    };
  }),
});

const graphs: Drain = {
  fill: (pool) => pool.query(SUBMIT, [RUNS]),
  total: RUNS * JOBS_A_RUN,
  works: [
    async (pool) => {
      await advance(pool);
      return workOff(pool, 'w1', new ClaimMemory());
    },
  ],
};

async function workOff(pool: Pool, workerId: string, memory: ClaimMemory): Promise<number> {
  const jobs = await claim(pool, { workerId, labels: [':event t'], limit: BATCH, memory });
  const results = jobs.map((job) => reportOf(job));
  await finishJobs(pool, results);
  return jobs.length;
}

test('events', { timeout: LIMIT_MS }, async () => {
  const drained = await compare({
    'no transaction is open': { drain: events(true), open: false },
    'one is open': { drain: events(true), open: true },
    'one is open, and nothing is remembered': { drain: events(false), open: true },
  });
  expect(drained).toBe(3 * ROUNDS);
});

test('jobs of graphs', { timeout: LIMIT_MS }, async () => {
  const drained = await compare({
    'no transaction is open': { drain: graphs, open: false },
    'one is open': { drain: graphs, open: true },
  });
  expect(drained).toBe(2 * ROUNDS);
});

/** Reports all of them; returns how often something was drained. */
async function compare(ways: Record<string, { drain: Drain; open: boolean }>): Promise<number> {
  const rates = Object.keys(ways).map((): number[][] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [way, { drain, open }] of Object.values(ways).entries())
      rates[way]?.push(await quarters(drain, open));
  for (const [way, name] of Object.keys(ways).entries()) {
    for (const quarter of [0, 1, 2, 3])
      report(`${name}, quarter ${quarter + 1}, a second`, rates[way]?.map((of) => of[quarter] ?? 0) ?? [], 0);
    const lasts = rates[way]?.map((of, round) => (of[3] ?? 0) / (rates[0]?.[round]?.[3] ?? 0)) ?? [];
    report(`${name}, last quarter, of the rate without`, lasts, 2);
  }
  return rates.flat().length;
}

/** Drains it once; how much a second in each quarter. */
async function quarters({ fill, total, works }: Drain, open: boolean): Promise<number[]> {
  await using db = await testDatabase();
  const { pool } = db;
  await fill(pool);
  await pool.query('vacuum analyze');
  const other = await pool.connect();
  if (open) await other.query('begin isolation level repeatable read; select from wfg_jobs limit 1');
  const rates: number[] = [];
  let done = 0;
  let start = performance.now();
  const drain = async (work: (pool: Pool) => Promise<number>) => {
    for (let count = 1; count > 0; ) {
      count = await work(pool);
      done += count;
      if (done < ((rates.length + 1) * total) / 4) continue;
      const now = performance.now();
      rates.push(total / 4 / ((now - start) / 1_000));
      start = now;
    }
  };
  await Promise.all(works.map(drain));
  expect(done).toBe(total);
  if (open) await other.query('rollback');
  other.release();
  return rates;
}

// Events by the million: what reading the metrics and a page of the list costs. Prints times; asserts plans, never a
// time.
import { loadavg } from 'node:os';
import { countEvents, storeCounts } from '@wfg/shared/queries/counts';
import { LIST } from '@wfg/shared/queries/events';
import { systemMetrics } from '@wfg/shared/runtime/system-metrics';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';

const DAYS = 30;
const ENDED_A_DAY = 160_000;
const LIVE = 200_000;
const ROUNDS = 15;
const LOAD_LIMIT_MS = 1_800_000;

/** Of one day, one in a thousand of them cancelled, of twenty types; ids grow with time. */
const ENDED = `
insert into wfg_history (moved_on, run_id, position, version, lane, run_at, created_at, updated_at, begun_at, started_at,
  finished_at, attempt, tries, losses, max_attempts, priority, blocked_on, settled, upstream_ok, upstream_failed, state,
  kind, outcome, job_id, name, workflow_type, worker_id, required_labels, parents, children, payload, tolerates,
  out_of_time)
select (t.at at time zone 'utc')::date, overlay(wfg_uuid7()::text placing
    lpad(to_hex((extract(epoch from t.at) * 1000)::bigint >> 16), 8, '0') from 1 for 8)::uuid,
  0, 4, 1, t.at, t.at, t.at, t.at, t.at, t.at, 0, 1, 0, 3, 0, 0, true, true, false,
  case when g % 1000 = 0 then 'cancelled' else 'completed' end, 'event', 'completed', 'main', 'type.' || g % 20,
  'type.' || g % 20, 'w1', array[':event type.' || g % 20], '{}', '{}', '{"customer_id":"CUS-204","amount":2500}',
  'nothing', false
from generate_series(1, $2::int) g
cross join lateral (
  select (date_trunc('day', now() at time zone 'utc') - make_interval(days => $1::int)) at time zone 'utc'
    + g * (interval '1 day' / ($2::int + 1)) as at
) t`;

const TALLIES = `
insert into wfg_event_tallies
select moved_on, state, count(*), count(*) * 5 from wfg_history where position = 0 group by 1, 2`;

/** Half dead letters, half waiting; some of those have failed already, four run. */
const LIVING = `
insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, payload, max_attempts,
  run_at, attempt, tries, error, started_at, finished_at, nonce, worker_id, lease_expires_at)
select wfg_uuid7(), 0, 'main', s.type, s.type, s.state, 'event', array[':event ' || s.type], '{"amount":2500}', 3,
  now() + interval '1 hour' * (g % 3 - 1), s.tries - 1, s.tries, case when s.tries > 0 then 'schema mismatch' end,
  case when s.tries > 0 then now() end, case when s.state = 'failed' then now() end, 1, 'w1',
  case when s.state = 'active' then now() + interval '1 hour' end
from generate_series(1, $1::int) g
cross join lateral (
  select case when g % 50000 = 7 then 'active' when g % 2 = 0 then 'failed' else 'pending' end as state,
    'type.' || g % 20 as type, case when g % 2 = 0 then 3 when g % 10000 <= 7 then 1 else 0 end as tries
) s`;

/** Jobs of graphs stand beside them. */
const GRAPHS = `
insert into wfg_jobs (run_id, position, job_id, name, state, kind, required_labels)
select wfg_uuid7(), 1, 'a', 'a', 'blocked', 'command', array[':command'] from generate_series(1, $1::int) g`;

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
  const patient = (text: string, values: unknown[] = []) =>
    db.pool.query(Object.assign({ text, values }, { query_timeout: LOAD_LIMIT_MS }));
  await patient(`select wfg_ensure_partitions((now() at time zone 'utc')::date - ${DAYS}, now()::date + 1)`);
  for (let day = DAYS; day > 0; day--) await patient(ENDED, [day, ENDED_A_DAY]);
  await patient(TALLIES);
  await patient(LIVING, [LIVE]);
  await patient(GRAPHS, [LIVE]);
  await patient('vacuum analyze wfg_jobs');
  await patient('vacuum analyze wfg_history');
}, LOAD_LIMIT_MS);

afterAll(() => db[Symbol.asyncDispose]());

/** Median and range of what the work takes, in milliseconds. */
async function report(what: string, work: (pool: Pool) => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await work(db.pool);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * (times.length - 1))]?.toFixed(1);
  const load = loadavg()[0]?.toFixed(1);
  console.log(`${what}: median ${at(0.5)} ms, range ${at(0)} to ${at(1)} (load ${load})`);
}

async function planOf(statement: string, values: unknown[]): Promise<string> {
  const { rows } = await db.pool.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, buffers, timing off, costs off) ${statement}`,
    values,
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

const total = DAYS * ENDED_A_DAY + LIVE;

test('the metrics of five million events', async () => {
  await report('counted for one reader', countEvents);
  expect(await countEvents(db.pool)).toMatchObject({ total });
  await report('counted for everyone', storeCounts);
  await report('GET /metrics', countEvents);
  await report('the same for Prometheus', (pool) => systemMetrics(pool, 'text/plain'));
  expect(await countEvents(db.pool)).toMatchObject({
    total,
    statuses: { processing: 4, dead_lettered: LIVE / 2 },
  });
});

/** Status and type, as the statement has them: state, tried, live, ended. */
test.each([
  ['everything', null, [null, null, true, true], 51],
  ['pending', null, ['pending', false, true, false], 51],
  ['failed', null, ['pending', true, true, false], 51],
  ['processing', null, ['active', null, true, false], 4],
  ['dead_lettered', null, ['failed', null, true, true], 51],
  ['completed', null, ['completed', null, false, true], 51],
  ['cancelled', null, ['cancelled', null, false, true], 51],
  ['one type', 'type.3', [null, null, true, true], 51],
  ['one type, completed', 'type.3', ['completed', null, false, true], 51],
  ['one type, cancelled', 'type.0', ['cancelled', null, false, true], 51],
  ['an unknown type', 'nothing', [null, null, true, true], 0],
] as const)('a page of the list: %s', async (what, type, [state, tried, live, ended], found) => {
  const values = [null, type, state, tried, 50, live, ended];
  await report(what, (pool) => pool.query(LIST, values));
  const plan = await planOf(LIST, values);
  expect(plan).toMatch(new RegExp(`Append \\(actual rows=${found}\\.00`));
  expect(plan).not.toMatch(/Seq Scan|Bitmap/);
  // What is read grows with the days of history and the page, at worst with the entries of one index of the live table.
  const [, hit = '0', read = '0'] = /Buffers: shared hit=(\d+)(?: read=(\d+))?/.exec(plan) ?? [];
  expect(Number(hit) + Number(read)).toBeLessThan(5_000);
});

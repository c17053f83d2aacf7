// known fault 11: deployments under load, 30 restarts of workers in turn. Nothing is left behind that looks as if it ran,
// no place is taken by what runs no more, and no job has paid for it.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEvent } from '@wfg/shared/contract/routes/events';
import { listWorkers } from '@wfg/shared/contract/routes/workers';
import { expect, inject, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { newGate } from '../support/gate.ts';
import { processesWith } from '../support/left-processes.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

const RESTARTS = 30;
const WORKERS = 3;
/** Of commands, in each worker. */
const PLACES = 2;
/** Each has one job under way. */
const CLIENTS = 6;
const LEASE_SECS = 5;
const MODULE = fileURLToPath(new URL('module.ts', import.meta.url));

/** Jobs that go on, with a lease that is over, or in no worker's hands for longer than one. */
const STALE = `
  select run_id, job_id, state from wfg_jobs
  where state = 'active' and lease_expires_at < wfg_now()
    or state in ('blocked', 'pending', 'active') and updated_at < wfg_now() - make_interval(secs => $1)`;

const ENDED = `
  select kind, state, tries, losses, count(*)::int as count, bool_or(attempt > 0) as again from (
    select kind, state, tries, losses, attempt from wfg_history
    union all select kind, state, tries, losses, attempt from wfg_jobs
  ) j group by 1, 2, 3, 4 order by 1`;

/** Jobs one after another, some shorter than the grace of a worker that is stopped and some longer. */
async function work(cluster: Cluster, trail: string, isOver: () => boolean): Promise<number> {
  let count = 0;
  for (; !isOver(); count++) {
    const ms = count % 4 === 3 ? 3_000 : 300;
    const payload = { trail, lines: 3, ms, fails: 0 };
    const body = { workflow_type: 'chaos.event', payload, max_attempts: 1 };
    const job = { run: `sleep ${ms / 1_000}` };
    const command = await cluster.submit({ name: 'w', jobs: { job } });
    const event = (await cluster.wfg(createEvent, { body })).id;
    for (const run of [command, event]) expect((await cluster.ended(run)).status).toBe('completed');
  }
  return count;
}

test('known fault 11: after 30 restarts of workers under load all places are free, and no job has paid', async () => {
  await using database = await testDatabase();
  const { pool } = database;
  const env = {
    LEASE_TTL_SECS: String(LEASE_SECS),
    SHUTDOWN_GRACE_SECS: '1',
    KILL_GRACE_SECS: '1',
    WORKER_CONCURRENCY: String(PLACES),
    WFG_MODULES: MODULE,
  };
  await using cluster = await startCluster(database, { counts: { worker: WORKERS }, env });
  const trail = join(inject('runFolder'), `trail-${randomUUID()}`);
  let isOver = false;
  const working = Promise.all(Array.from({ length: CLIENTS }, () => work(cluster, trail, () => isOver)));
  // Its failure is told when it is awaited.
  working.catch(() => undefined);
  for (let restart = 0; restart < RESTARTS; restart++) {
    const index = restart % WORKERS;
    await cluster.restart('worker', index);
    await cluster.of('worker')[index]?.logged('started');
    expect((await pool.query(STALE, [4 * LEASE_SECS])).rows).toEqual([]);
  }
  isOver = true;
  const jobs = (await working).reduce((sum, count) => sum + count);
  const { rows } = await pool.query<{ again: boolean }>(ENDED);
  const done = { state: 'completed', tries: 1, losses: 0, count: jobs, again: true };
  expect(rows).toEqual([
    { kind: 'command', ...done },
    { kind: 'event', ...done },
  ]);

  // As many as there are places run, and one more waits.
  const gate = newGate();
  const mark = randomUUID();
  const all = WORKERS * PLACES;
  const job = { run: gate.wait, env: { MARK: mark } };
  const names = Array.from({ length: all + 1 }, (_, n) => `job-${n}`);
  const run = await cluster.submit({ name: 'w', jobs: Object.fromEntries(names.map((name) => [name, job])) });
  await waitFor('all places to be taken', () => processesWith(mark, 'WFG_ATTEMPT=0\0').length >= all);
  const running = async () => (await cluster.wfg(listWorkers)).flatMap(({ jobs: held }) => held);
  expect(await running()).toHaveLength(all);
  expect((await cluster.run(run)).jobs.filter(({ state }) => state === 'active')).toHaveLength(all);
  await gate.open();
  expect((await cluster.ended(run)).status).toBe('completed');
  expect(await running()).toEqual([]);
});

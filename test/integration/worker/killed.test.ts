// kill -9 of a worker that has its hands full: all of it goes on elsewhere, soon after the leases are over and not before.
import { expect, test } from 'vitest';
import { submit } from '../../support/engine.ts';
import { enqueueAll, eventWhen, isCompleted, newTrail } from '../../support/events.ts';
import { newGate } from '../../support/gate.ts';
import { testDatabase } from '../../support/postgres.ts';
import { startService } from '../../support/process.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, reasonsOf, startHandlerWorker } from '../../support/worker.ts';

const COMMANDS = 11;
const EVENTS = 10;
const ALL = COMMANDS + EVENTS;

const HELD = `
  select run_id::text as run, lease_expires_at::text as expires from wfg_jobs
  where state = 'active' and worker_id = 'w1' and attempt = 0`;

const TAKEN_OVER = `
  select count(*)::int as count
  from unnest($1::uuid[], $2::timestamptz[]) as killed (run_id, expired_at)
  join wfg_jobs j using (run_id)
  where j.state = 'active' and j.worker_id = 'w2' and j.attempt = 1
    and j.started_at between expired_at and expired_at + interval '5 s'`;

test('known fault 10: 21 jobs of a killed worker begin elsewhere within 5 s of their leases, each once', async () => {
  await using db = await testDatabase();
  const { pool, url } = db;
  await using _ = startService('reaper', { DATABASE_URL: url, REAP_INTERVAL_SECS: '1' });
  const env = {
    LEASE_TTL_SECS: '2',
    WORKER_CONCURRENCY: String(COMMANDS),
    HANDLER_CONCURRENCY: String(EVENTS),
  };
  const killed = startHandlerWorker(url, env);
  const gate = newGate();
  const trail = newTrail();
  const run = `echo "begin $WFG_RUN_ID.$WFG_ATTEMPT" >>'${trail.path}'; ${gate.wait}`;
  const runs = await Promise.all(
    Array.from({ length: COMMANDS }, () => submit(pool, { job: { run, retries: 1 } })),
  );
  const events = await enqueueAll(pool, 'test.wait', EVENTS, () => ({ trail: trail.path, gate: gate.path }));
  await waitFor('all to begin', () => trail.lines().length === ALL);
  await using other = startHandlerWorker(url, { ...env, WORKER_ID: 'w2' });
  await waitFor('the other to be ready', async () => (await reasonsOf(other)).length === 0);

  killed.signal('SIGKILL');
  await killed.ended;
  const { rows: held } = await pool.query<{ run: string; expires: string }>(HELD);
  expect(held).toHaveLength(ALL);
  await waitFor('all to begin elsewhere', () => trail.lines().length === 2 * ALL);
  const { rows } = await pool.query(TAKEN_OVER, [held.map((job) => job.run), held.map((job) => job.expires)]);
  expect(rows).toEqual([{ count: ALL }]);
  await gate.open();
  for (const id of runs)
    expect(await jobWhen(pool, id, 'job', ({ state }) => state === 'completed')).toMatchObject({
      attempt: 1,
      tries: 2,
    });
  for (const id of events)
    expect(await eventWhen(pool, id, isCompleted)).toMatchObject({ attempt: 1, tries: 1, losses: 1 });
  const begun = trail.lines().filter((line) => line.startsWith('begin'));
  expect(begun.length).toBe(2 * ALL);
  expect(new Set(begun).size).toBe(2 * ALL);
});

// What ends a command by force, as a user sees it: a cancel, a timeout, a lost lease. Whatever it had started is gone
// before anybody is told that it has ended.
import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cancelRun } from '@wfg/shared/contract/routes/runs';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { processesWith } from '../support/left-processes.ts';
import { textOf } from '../support/numbers.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

let db: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  db = await testDatabase();
  const env = { KILL_GRACE_SECS: '1', WORKER_CONCURRENCY: '4', WFG_MODULES: ',' };
  cluster = await startCluster(db, { env });
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const cancel = (run: string) => cluster.wfg(cancelRun, { params: { run } });
const logOf = async (run: string) => textOf(await cluster.logs(run, 'job'), 0);

async function stealLease(run: string): Promise<void> {
  await db.pool.query('update wfg_jobs set nonce = nonce + 1 where run_id = $1', [run]);
}

/** Starts a run of one job, and finds what it starts. */
async function begin(job: { run: string; timeout?: number }) {
  const mark = randomUUID();
  const run = await cluster.submit({ name: 'w', jobs: { job: { ...job, env: { MARK: mark } } } });
  await waitFor('it to be ready', async () => (await logOf(run)).includes('ready'));
  return { run, processes: () => processesWith(mark) };
}

test('known fault 17: a cancelled job is cancelling until it has stopped, and what was done is told', async () => {
  const ticks = join(inject('runFolder'), randomUUID());
  const { run, processes } = await begin({
    run: `trap '' TERM; echo ready; while echo tick >>${ticks}; do sleep 0.2; done`,
  });
  await waitFor('a tick', () => existsSync(ticks));
  await cancel(run);
  const asked = statSync(ticks).size;
  await waitFor('it to go on', () => statSync(ticks).size > asked);
  expect(await cluster.run(run)).toMatchObject({
    status: 'cancelling',
    jobs: [{ state: 'active', cancelling: true }],
  });
  const ended = await cluster.ended(run);
  const last = statSync(ticks).size;
  expect(processes()).toEqual([]);
  expect(ended).toMatchObject({ status: 'cancelled', jobs: [{ state: 'cancelled', cancelling: false }] });
  expect(await logOf(run)).toBe(
    'ready\n[wfg] the job is cancelled: SIGTERM sent\n[wfg] still running after 1 s: SIGKILL sent\n',
  );
  expect(await cluster.attempts(run, 'job')).toMatchObject([
    { outcome: 'cancelled', error: 'signal SIGKILL: ready\n', exit_code: null },
  ]);
  expect(statSync(ticks).size).toBe(last);
});

test('a cancelled job that cleans up and exits is cancelled, with its exit code', async () => {
  const { run } = await begin({
    run: `trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.05; done`,
  });
  await cancel(run);
  expect(await cluster.ended(run)).toMatchObject({ status: 'cancelled' });
  expect(await logOf(run)).toMatch(/^ready\n\[wfg\] the job is cancelled: SIGTERM sent\n[^]*cleaned\n$/);
  expect(await cluster.attempts(run, 'job')).toMatchObject([
    { outcome: 'cancelled', error: expect.stringMatching(/^exit code 7: /), exit_code: 7 },
  ]);
});

/** Five processes and the shell itself: a child, one that ignores SIGTERM with its own, one of a session of its own. */
const FAMILY = `sleep 1000 &
sh -c 'trap "" TERM; sleep 1001; sleep 1002' &
(setsid sh -c 'sleep 1003; sleep 1004' &)
echo ready
wait`;

const told = (why: string) =>
  `ready\n[wfg] ${why}: SIGTERM sent\n[wfg] still running after 1 s: SIGKILL sent\n`;

// What has lost its lease has nothing more to say.
test.for([
  {
    how: 'a cancel',
    number: 'known fault 18, D3 86',
    stop: cancel,
    timeout: 600,
    status: 'cancelled',
    log: told('the job is cancelled'),
  },
  {
    how: 'a timeout',
    number: 'known fault 18',
    stop: () => undefined,
    timeout: 1,
    status: 'failed',
    log: told('timeout after 1s'),
  },
  {
    how: 'a lost lease',
    number: 'known fault 18, D3 85',
    stop: stealLease,
    timeout: 600,
    status: 'failed',
    log: 'ready\n',
  },
])('$number: $how leaves no process, whatever it is a child of', async ({ stop, timeout, status, log }) => {
  const { run, processes } = await begin({ run: FAMILY, timeout });
  if (timeout > 1) await waitFor('its family', () => processes().length === 6);
  await stop(run);
  const gone = waitFor('all to be gone', () => processes().length === 0);
  if (stop === stealLease) await gone;
  const ended = await cluster.ended(run);
  expect(processes()).toEqual([]);
  await gone;
  expect(ended.status).toBe(status);
  expect(await logOf(run)).toBe(log);
  // Its place is free.
  const next = await cluster.submit({ name: 'w', jobs: { job: { run: 'true' } } });
  expect(await cluster.ended(next)).toMatchObject({ status: 'completed' });
});

// How a run ends that cannot be completed, as whoever watches it sees: a job failed, was cancelled, or the time of the
// run is over.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cancelJob } from '@wfg/shared/contract/routes/jobs';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { newGate } from '../support/gate.ts';
import { processesWith } from '../support/left-processes.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';
import { CLI, runWfg } from '../support/wfg.ts';

/** Ten times what it may take on a machine that is not busy. */
const LIMIT_MS = 10_000;

let db: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  db = await testDatabase();
  cluster = await startCluster(db, { env: { KILL_GRACE_SECS: '1', WORKER_CONCURRENCY: '4' } });
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** A graph whose `bad` runs until the gate is open, with what is behind it. */
async function begin(fail: string) {
  const gate = newGate();
  const run = await cluster.submit({
    name: 'w',
    jobs: {
      good: { run: 'true' },
      bad: { run: `${gate.wait}; ${fail}` },
      child: { run: 'true', needs: ['good', 'bad'] },
      grandchild: { run: 'true', needs: 'child' },
    },
  });
  await stateWhen(run, { good: 'completed', bad: 'active' });
  return { run, gate };
}

async function stateWhen(run: string, expected: Record<string, string>): Promise<void> {
  await waitFor(`${run} to be ${JSON.stringify(expected)}`, async () => {
    const { jobs } = await cluster.run(run);
    return Object.entries(expected).every(
      ([id, state]) => jobs.find((job) => job.job_id === id)?.state === state,
    );
  });
}

const SKIPPED = { state: 'skipped', started_at: null, worker_id: null };

test('known fault 23: what needs a job that failed is skipped, and the run ends at once', async () => {
  const { run, gate } = await begin('exit 3');
  const since = performance.now();
  await gate.open();
  const ended = await cluster.ended(run, LIMIT_MS);
  console.log(`known fault 23: ended ${Math.round(performance.now() - since)} ms after the job failed`);
  expect(ended).toMatchObject({
    status: 'failed',
    jobs: [
      { job_id: 'good', state: 'completed' },
      { job_id: 'bad', state: 'failed' },
      { job_id: 'child', ...SKIPPED, error: 'needs bad, which failed' },
      { job_id: 'grandchild', ...SKIPPED },
    ],
  });
});

test('known fault 23: what needs a job that was cancelled is skipped, and the run ends at once', async () => {
  const { run } = await begin('true');
  const since = performance.now();
  await cluster.wfg(cancelJob, { params: { run, job: 'bad' } });
  const ended = await cluster.ended(run, LIMIT_MS);
  console.log(`known fault 23: ended ${Math.round(performance.now() - since)} ms after the cancel`);
  expect(ended).toMatchObject({
    status: 'cancelled',
    jobs: [
      { job_id: 'good', state: 'completed' },
      { job_id: 'bad', state: 'cancelled' },
      { job_id: 'child', ...SKIPPED, error: 'needs bad, which was cancelled' },
      { job_id: 'grandchild', ...SKIPPED },
    ],
  });
});

const Created = z.object({ run: z.object({ run_id: z.string() }) });

test('when the time of a run is over, what runs is killed and nothing else of it begins', async () => {
  const mark = randomUUID();
  const file = join(inject('runFolder'), `${mark}.json`);
  const jobs = {
    runs: { run: `trap '' TERM; sleep 600 & (setsid sleep 600 &) ; wait; sleep 600`, env: { MARK: mark } },
    waits: { run: 'true', labels: ['nobody'] },
    behind: { run: 'true', needs: 'runs', if: 'always()' },
  };
  await writeFile(file, JSON.stringify({ name: 'late', timeout: 600, jobs }));
  const wfg = startProcess('wfg', [CLI, 'run', file, '--json'], { WFG_URL: cluster.url });
  const { run_id: run } = await waitFor('the run', () => Created.parse(wfg.logs[0]).run);
  await waitFor('all to run', () => processesWith(mark, 'WFG_RUN_ID=').length >= 3);

  await db.pool.query('update wfg_runs set deadline_at = wfg_now() where id = $1', [run]);
  const ended = await cluster.ended(run);
  expect(processesWith(mark, 'WFG_RUN_ID=')).toEqual([]);
  const error = 'the time of its run is over';
  expect(ended).toMatchObject({
    status: 'failed',
    error: 'timeout after 600 s',
    jobs: [
      { job_id: 'runs', state: 'failed', error },
      { job_id: 'waits', state: 'cancelled', started_at: null },
      { job_id: 'behind', state: 'cancelled', started_at: null },
    ],
  });
  expect(await cluster.attempts(run, 'runs')).toMatchObject([{ outcome: 'timed_out', error }]);
  expect(await wfg.ended).toMatchObject({ code: 1 });
  expect(wfg.logs.at(-1)).toMatchObject({ type: 'run_finished', status: 'failed' });
  const { stdout } = await runWfg(['show', run], { WFG_URL: cluster.url });
  expect(stdout).toContain('timeout after 600 s');
  expect(stdout).toMatch(new RegExp(`failed +runs .*${error}`));
});

// Workers that speak workflow-graph's protocol with all their faults get the work done, and harm nothing.
import type { Worker } from '@wfg/shared/contract/worker';
import { cancelRun } from '@wfg/shared/contract/routes/runs';
import { listWorkers } from '@wfg/shared/contract/routes/workers';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { moveClock } from '../support/engine.ts';
import { newGate } from '../support/gate.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { type StockWorker, startStockWorker } from '../support/stock-worker.ts';
import { waitFor } from '../support/wait-for.ts';

let db: TestDatabase;
let cluster: Cluster;
let workers: StockWorker[];

beforeAll(async () => {
  db = await testDatabase();
  cluster = await startCluster(db, { counts: { worker: 0 } });
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

beforeEach(() => {
  workers = [];
});

afterEach(async () => {
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  await moveClock(db.pool, '0');
});

function start(id: string, ...labels: string[]): StockWorker {
  const worker = startStockWorker(cluster.url, id, labels);
  workers.push(worker);
  return worker;
}

const newFile = () => join(inject('runFolder'), randomUUID());
const text = async (run: string, job: string) =>
  (await cluster.logs(run, job)).map(({ data }) => data).join('');

/** The worker of this id as the list has it, once it is `ok`. */
async function listed(id: string, ok: (worker: Worker) => boolean): Promise<Worker> {
  return waitFor(`worker ${id}: ${String(ok)}`, async () => {
    const found = (await cluster.wfg(listWorkers)).find((worker) => worker.worker_id === id);
    return found && ok(found) && found;
  });
}

test('the sample with labels and retries completes', async () => {
  start('bare');
  start('linux', 'linux');
  start('aws', 'linux', 'aws');
  const once = newFile();
  const run = await cluster.submit({
    name: 'ci.yml',
    on: 'push',
    jobs: {
      'unit-tests': { retries: 1, run: 'echo "Running unit tests"; echo "42 passed" >&2' },
      lint: { run: 'echo "Checking style"' },
      typecheck: { run: 'echo "Checking types"' },
      build: {
        needs: ['unit-tests', 'lint', 'typecheck'],
        labels: ['linux'],
        env: { WHAT: "it's all" },
        steps: [{ name: 'Build', run: 'echo "Building $WHAT"' }, { run: 'echo more' }],
      },
      'deploy-db': { needs: 'build', labels: ['linux', 'aws'], run: 'echo "Migrating"' },
      'e2e-tests': {
        needs: 'build',
        retries: 2,
        run: `test -e ${once} || { touch ${once}; echo no; exit 7; }`,
      },
      'deploy-preview': { needs: 'build', run: 'echo "Deploying a preview"' },
      'deploy-web': { needs: 'deploy-db', labels: ['linux', 'aws'], run: 'seq 1 500' },
    },
  });
  const ended = await cluster.ended(run);
  expect(ended.status).toBe('completed');
  const workerOf = Object.fromEntries(ended.jobs.map((job) => [job.job_id, job.worker_id]));
  expect(workerOf).toMatchObject({
    'deploy-db': 'aws',
    'deploy-web': 'aws',
    build: expect.stringMatching(/linux|aws/),
  });
  expect(await text(run, 'build')).toBe("=== Build ===\nBuilding it's all\n=== step 2 ===\nmore\n");
  expect(await text(run, 'deploy-web')).toBe(Array.from({ length: 500 }, (_, n) => `${n + 1}\n`).join(''));
  expect(await cluster.attempts(run, 'e2e-tests')).toMatchObject([
    { outcome: 'failed', error: 'exit code 7: no\n', exit_code: 7, log: { chunks: 1, lines: 1 } },
    { outcome: 'completed', error: null, log: { chunks: 0 } },
  ]);
  expect(workers.map(({ refused }) => [...refused])).toEqual([[], [], []]);
});

test('what is cancelled ends cancelled, and is not tried again', async () => {
  const gate = newGate();
  start('w1');
  const run = await cluster.submit({
    name: 'w',
    jobs: { a: { retries: 2, run: `echo begun; ${gate.wait}` }, b: { needs: 'a', run: 'true' } },
  });
  await waitFor('the job to print', () => text(run, 'a'));
  await cluster.wfg(cancelRun, { params: { run } });
  expect(await cluster.ended(run)).toMatchObject({
    status: 'cancelled',
    jobs: [
      { state: 'cancelled', tries: 1, attempt: 0 },
      { state: 'cancelled', attempt: 0 },
    ],
  });
  expect(await text(run, 'a')).toBe('begun\n');
  const next = await cluster.submit({ name: 'w', jobs: { a: { run: 'true' } } });
  expect(await cluster.ended(next)).toMatchObject({ status: 'completed' });
  await gate.open();
});

test('what a worker says of a job that it has lost changes nothing', async () => {
  const gate = newGate();
  const begun = newFile();
  const slow = start('slow');
  const run = await cluster.submit({
    name: 'w',
    jobs: {
      a: {
        retries: 1,
        run: `echo begun >>${begun}; if test "$(wc -l <${begun})" = 1; then echo old; ${gate.wait}; echo late; else echo new; fi`,
      },
    },
  });
  await waitFor('the job to print', () => text(run, 'a'));
  // It works on, whatever its heartbeat is told, and has no place for the retry.
  await moveClock(db.pool, '31 s');
  await waitFor(
    'the lease to be taken back',
    async () => (await cluster.attempts(run, 'a'))[0]?.outcome === 'lost',
  );
  start('other');
  expect(await cluster.ended(run)).toMatchObject({
    status: 'completed',
    jobs: [{ worker_id: 'other', attempt: 1, tries: 2 }],
  });
  await gate.open();
  await waitFor('the late log and report', () => slow.refused.has('logs') && slow.refused.has('complete'));
  expect(await cluster.run(run)).toMatchObject({ status: 'completed', jobs: [{ worker_id: 'other' }] });
  expect(await text(run, 'a')).toBe('old\nnew\n');
  expect((await readFile(begun, 'utf8')).split('\n')).toHaveLength(3);
});

test('a worker that never beats for itself is alive while it works and while it looks for work', async () => {
  const gate = newGate();
  start('w1');
  await listed('w1', ({ status }) => status === 'idle');
  const run = await cluster.submit({ name: 'w', jobs: { a: { run: gate.wait } } });
  await listed('w1', ({ status, current_job }) => status === 'busy' && current_job === 'a');
  // Its lease is renewed between the two, so it is not lost.
  for (const time of ['20 s', '40 s', '60 s']) {
    await moveClock(db.pool, time);
    const before = (await listed('w1', () => true)).last_heartbeat_ms;
    await listed('w1', ({ status, last_heartbeat_ms }) => status === 'busy' && last_heartbeat_ms > before);
  }
  await gate.open();
  expect(await cluster.ended(run)).toMatchObject({ status: 'completed' });
  await listed('w1', ({ status, current_job }) => status === 'idle' && current_job === null);
  await moveClock(db.pool, '5 min');
  await listed('w1', ({ status }) => status === 'idle');
});

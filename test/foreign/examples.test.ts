// The workers of deploy/examples, each a program of its own, on a whole wfg that has no other worker.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { cancelRun } from '@wfg/shared/contract/routes/runs';
import { listWorkers } from '@wfg/shared/contract/routes/workers';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { moveClock } from '../support/engine.ts';
import { assertPrograms, type ForeignProgram, startForeign } from '../support/foreign-program.ts';
import { newGate } from '../support/gate.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

const TOKEN = `token-${randomUUID()}`;

const newFile = () => join(inject('runFolder'), randomUUID());

/** Pids that a job has written, one a line, once it has written so many. */
async function pidsIn(path: string, count: number): Promise<number[]> {
  return waitFor('the job to run', async () => {
    const pids = (await readFile(path, 'utf8')).trim().split('\n').map(Number);
    return pids.length === count && pids;
  });
}

async function gone(pids: readonly number[]): Promise<void> {
  await waitFor(`processes ${pids.join(', ')} to be gone`, () => !pids.some(isAlive));
}

describe.each([
  ['python3', 'worker.py'],
  ['bash', 'worker.sh'],
])('%s %s', (program, file) => {
  let db: TestDatabase;
  let cluster: Cluster;
  let worker: ForeignProgram;

  beforeAll(async () => {
    assertPrograms(program, 'curl');
    db = await testDatabase();
    cluster = await startCluster(db, { counts: { worker: 0 }, env: { WFG_ADMIN_TOKEN: TOKEN } });
  });

  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    await moveClock(db.pool, '0');
    const env = { WFG_URL: cluster.url, WFG_TOKEN: TOKEN, WORKER_ID: 'example', WORKER_LABELS: 'x,y' };
    worker = startForeign(program, file, env);
  });

  afterEach(() => worker[Symbol.asyncDispose]());

  const text = async (run: string, job: string) =>
    (await cluster.logs(run, job)).map(({ data }) => data).join('');

  test('runs a workflow with steps, environment, outputs, labels and retries', async () => {
    const once = newFile();
    const run = await cluster.submit({
      name: 'w',
      env: { WHO: "it's me" },
      jobs: {
        build: {
          labels: ['x'],
          steps: [
            { name: "Say 'it'", run: 'echo "building for $WHO"; cd /' },
            { run: 'test "$PWD" != / && echo "::set-output version=1.2=3"; echo "über 🦊 \\"$WHO\\" \\\\"' },
          ],
        },
        test: {
          needs: 'build',
          retries: 1,
          run: `echo "got \${WFG_OUT_BUILD_VERSION:-$(cat "$WFG_UPSTREAM")}"; test -e ${once} || { touch ${once}; exit 3; }`,
        },
        many: { needs: 'build', run: 'seq 1 2000; echo "the token is ${WFG_TOKEN-}"' },
      },
    });
    expect(await cluster.ended(run)).toMatchObject({ status: 'completed' });
    expect(await cluster.outputs(run, 'build')).toEqual({ version: '1.2=3' });
    expect(await text(run, 'build')).toBe(
      `=== Say 'it' ===\nbuilding for it's me\n=== step 2 ===\n::set-output version=1.2=3\nüber 🦊 "it's me" \\\n`,
    );
    expect(await text(run, 'test')).toMatch(/^(?:got (?:1\.2=3|\{"build":\{"version":"1\.2=3"\}\})\n){2}$/);
    expect(await cluster.attempts(run, 'test')).toMatchObject([
      {
        outcome: 'failed',
        exit_code: 3,
        error: expect.stringMatching(/^exit code 3: got /),
        worker_id: 'example',
      },
      { outcome: 'completed', error: null },
    ]);
    const numbers = Array.from({ length: 2000 }, (_, n) => `${n + 1}\n`).join('');
    expect(await text(run, 'many')).toBe(`${numbers}the token is \n`);
  });

  test('kills all of a job that is cancelled, which is not tried again', async () => {
    const pids = newFile();
    const job = { retries: 3, run: `sleep 300 & echo $! >>${pids}; echo $$ >>${pids}; sleep 300` };
    const run = await cluster.submit({ name: 'w', jobs: { job } });
    const running = await pidsIn(pids, 2);
    await cluster.wfg(cancelRun, { params: { run } });
    expect(await cluster.ended(run)).toMatchObject({
      status: 'cancelled',
      jobs: [{ state: 'cancelled', tries: 1 }],
    });
    await gone(running);
  });

  test('kills what it has lost, and goes on with the next', async () => {
    const pids = newFile();
    const run = await cluster.submit({
      name: 'w',
      jobs: { job: { run: `sleep 300 & echo $! >>${pids}; echo $$ >>${pids}; sleep 300` } },
    });
    const running = await pidsIn(pids, 2);
    await moveClock(db.pool, '1 hour');
    expect(await cluster.ended(run)).toMatchObject({
      jobs: [{ state: 'failed', error: expect.stringContaining('lease expired') }],
    });
    await gone(running);
    const next = await cluster.submit({ name: 'w', jobs: { job: { run: 'true' } } });
    expect(await cluster.ended(next)).toMatchObject({ status: 'completed' });
  });

  test('finishes what it runs when it is asked to stop', async () => {
    const gate = newGate();
    const pids = newFile();
    const run = await cluster.submit({
      name: 'w',
      jobs: { job: { run: `echo $$ >${pids}; ${gate.wait}; echo done` } },
    });
    await pidsIn(pids, 1);
    worker.signal('SIGTERM');
    await gate.open();
    expect(await cluster.ended(run)).toMatchObject({ status: 'completed' });
    expect(await worker.ended).toBe(0);
    expect(await text(run, 'job')).toBe('done\n');
    expect(await cluster.wfg(listWorkers)).toEqual([]);
  });

  test('bears with a server that goes and comes back', async () => {
    const gate = newGate();
    const pids = newFile();
    const run = await cluster.submit({
      name: 'w',
      jobs: {
        job: { run: `echo before; echo $$ >${pids}; ${gate.wait}; echo after; echo "::set-output a=b"` },
      },
    });
    await pidsIn(pids, 1);
    await cluster.kill('api');
    await gate.open();
    expect(await cluster.ended(run)).toMatchObject({ status: 'completed' });
    expect(await text(run, 'job')).toBe('before\nafter\n::set-output a=b\n');
    expect(await cluster.outputs(run, 'job')).toEqual({ a: 'b' });
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

// What a job is given: the outputs of its dependencies, however many, and the environment of its run.
import { finishJobs } from '@wfg/shared/queries/finish';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { advance, claim, reportOf, submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { jobWhen, startWorker } from '../../support/worker.ts';

const BATCH = 100;
const READ = 'unnest(j.parents[';

/** A run of one job that needs `count` others, which are completed. */
async function fanIn(pool: Pool, count: number, run: string): Promise<string> {
  const parents = Array.from({ length: count }, (_, index) => `p-${index}`);
  const jobs = Object.fromEntries(parents.map((id) => [id, {}]));
  const id = await submit(pool, { ...jobs, last: { run, needs: parents } });
  // In batches as workers take them: thousands at once are beyond the time of a statement on a slow machine.
  for (let done = 0; done < count; ) {
    const claimed = await claim(pool, { limit: Math.min(count - done, BATCH) });
    expect(claimed).not.toEqual([]);
    await finishJobs(
      pool,
      claimed.map((job) => reportOf(job, { outputs: { name: job.job_id } })),
    );
    done += claimed.length;
  }
  await advance(pool);
  return id;
}

test('a job with 2,000 dependencies has the outputs of all', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const text = 'echo "::set-output count=$(grep -o \'"name":"p-[0-9]*"\' "$WFG_UPSTREAM" | sort -u | wc -l)"';
  const run = await fanIn(pool, 2_000, text);
  await using _ = startWorker(url);
  const { outputs } = await jobWhen(pool, run, 'last', ({ state }) => state === 'completed');
  expect(outputs).toEqual({ count: '2000' });
});

test('a job whose dependencies cannot be read waits until they can, alone', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const run = await fanIn(pool, 2, 'echo "::set-output name=$WFG_OUT_P_1_NAME"');
  const other = await submit(pool, { job: {} });
  await using proxy = await TcpProxy.start(url);
  const cut = proxy.cutAt(READ);
  await using _ = startWorker(proxy.url);
  await cut;
  expect(await jobWhen(pool, other, 'job', ({ state }) => state === 'completed')).toMatchObject({
    attempt: 0,
  });
  expect(await jobWhen(pool, run, 'last', ({ state }) => state === 'completed')).toMatchObject({
    attempt: 0,
    tries: 1,
    outputs: { name: 'p-1' },
  });
});

test('a job whose dependencies have more outputs than it could take fails, and says so', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const run = await fanIn(pool, 70, 'true');
  await pool.query(
    `update wfg_jobs set outputs = json_build_object('big', repeat('x', 1000000)) where run_id = $1 and position <= 70`,
    [run],
  );
  await using _ = startWorker(url);
  const { error } = await jobWhen(pool, run, 'last', ({ state }) => state === 'failed');
  expect(error).toContain('more than 64 MiB together: pass large data by files');
});

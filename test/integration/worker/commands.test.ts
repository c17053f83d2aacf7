// What a command job says about itself is obeyed: values to hide, and exit codes after which there is no retry.
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';
import { jobWhen, startWorker } from '../../support/worker.ts';

const isFailed = ({ state }: { state: string }) => state === 'failed';

/** Adds to the spec of a job that waits. */
async function amend(pool: Pool, run: string, job: string, more: object): Promise<void> {
  await pool.query(
    'update wfg_jobs set spec = (spec::jsonb || $3::jsonb)::json, run_at = wfg_now() where run_id = $1 and job_id = $2',
    [run, job, JSON.stringify(more)],
  );
}

test('an exit code in not_on ends the job, another is retried', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const run = await submit(pool, {
    final: { run: 'exit 3', retries: 2 },
    other: { run: 'exit 4', retries: 2 },
  });
  for (const job of ['final', 'other']) await amend(pool, run, job, { not_on: [3, 5] });
  await using _ = startWorker(url);
  expect(await jobWhen(pool, run, 'final', isFailed)).toMatchObject({ attempt: 0, error: 'exit code 3: ' });
  expect(await jobWhen(pool, run, 'other', isFailed)).toMatchObject({ attempt: 2, error: 'exit code 4: ' });
});

test('the values of variables in mask are hidden', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const env = { TOKEN: 'correct horse', OTHER: 'battery staple' };
  const run = await submit(pool, { job: { run: 'echo "$TOKEN, $OTHER"', env } });
  await amend(pool, run, 'job', { mask: ['TOKEN', 'ABSENT'] });
  await using _ = startWorker(url);
  await jobWhen(pool, run, 'job', ({ state }) => state === 'completed');
  const { rows } = await pool.query<{ data: string }>('select data from wfg_logs');
  expect(rows).toEqual([{ data: '***, battery staple\n' }]);
});

test('a step for failures runs after one, and the job has failed', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const run = await submit(pool, { job: { run: 'ignored' } });
  const step = { env: {}, timeout: null, on_success: true, on_failure: false };
  const steps = [
    { ...step, label: 'a', run: 'exit 3' },
    { ...step, label: 'b', run: 'echo no' },
    { ...step, label: 'c', run: 'echo cleaned', on_success: false, on_failure: true },
  ];
  await amend(pool, run, 'job', { steps });
  await using _ = startWorker(url);
  expect(await jobWhen(pool, run, 'job', isFailed)).toMatchObject({
    error: 'exit code 3: ',
  });
  const { rows } = await pool.query<{ data: string }>('select data from wfg_logs order by sequence');
  expect(rows.map(({ data }) => data).join('')).toBe('=== a ===\n=== c ===\ncleaned\n');
});

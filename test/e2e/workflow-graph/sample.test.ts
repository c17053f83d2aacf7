// The sample workflow, posted and run as workflow-graph's demonstration does.
import { isEnded } from '@wfg/shared/rules/states';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startCluster } from '../../support/cluster.ts';
import { testDatabase } from '../../support/postgres.ts';

test('93: with each service a process of its own the sample runs to its end, and every dependant starts after its dependencies have ended', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, { counts: { worker: 2 } });
  const created = await fetch(`${cluster.url}/api/workflows/sample`, { method: 'POST' });
  expect(created.status).toBe(201);
  const started = await fetch(`${cluster.url}/api/workflows/ci-1/run`, { method: 'POST' });
  expect(started.status).toBe(202);
  const { run_id } = z.object({ run_id: z.string() }).parse(await started.json());
  const run = await cluster.ended(run_id);
  expect(run).toMatchObject({ status: 'completed', number: 1, workflow_id: 'ci-1' });
  const jobs = new Map(run.jobs.map((job) => [job.job_id, job]));
  expect(jobs.size).toBe(8);
  for (const job of run.jobs) {
    expect(isEnded(job.state)).toBe(true);
    for (const need of job.depends_on) {
      const ended = jobs.get(need)?.finished_at;
      expect(ended && job.started_at && ended <= job.started_at, `${job.job_id} after ${need}`).toBe(true);
    }
  }
});

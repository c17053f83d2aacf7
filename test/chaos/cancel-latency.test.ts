// known fault 19: from the request of a cancel to the death of the command, on a worker that is full.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { cancelRun } from '@wfg/shared/contract/routes/runs';
import { expect, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { processesWith } from '../support/left-processes.ts';
import { testDatabase } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';

const COUNT = 20;
const MOST_MS = 2_000;

test.for(['heard', 'black-holed'] as const)('known fault 19: a cancel with notifications %s', async (how) => {
  await using database = await testDatabase();
  await using proxy = await TcpProxy.start(database.url);
  const env = {
    DATABASE_DIRECT_URL: proxy.url,
    LEASE_TTL_SECS: '600',
    WORKER_CONCURRENCY: String(COUNT),
    WFG_MODULES: ',',
  };
  await using cluster = await startCluster(database, { env });
  const jobs = await Promise.all(
    Array.from({ length: COUNT }, async () => {
      const mark = randomUUID();
      const jobs = { job: { run: 'sleep 600', env: { MARK: mark } } };
      return { mark, run: await cluster.submit({ name: 'w', jobs }) };
    }),
  );
  await waitFor('all to run', () => jobs.every(({ mark }) => processesWith(mark).length > 0));
  if (how === 'black-holed') proxy.stall();
  const latencies: number[] = [];
  for (const { mark, run } of jobs) {
    // Not in step with what looks for cancels.
    await sleep(Math.random() * 1_500);
    const since = performance.now();
    await cluster.wfg(cancelRun, { params: { run } });
    await waitFor('the command to be dead', () => processesWith(mark).length === 0);
    latencies.push(Math.round(performance.now() - since));
    expect((await cluster.ended(run)).status).toBe('cancelled');
  }
  latencies.sort((a, b) => a - b);
  const p95 = latencies[Math.ceil(COUNT * 0.95) - 1];
  console.log(`cancel to dead, notifications ${how}: ${latencies.join(' ')} ms; p95 ${p95} ms`);
  expect(p95).toBeLessThan(MOST_MS);
});

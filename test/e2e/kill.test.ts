// kill -9 of one process of each service while a run goes on. Again and again, under load, is in test/chaos.
import { expect, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { killRound } from '../support/kill-round.ts';
import { testDatabase } from '../support/postgres.ts';

test('a run survives kill -9 of each service', { timeout: 180_000 }, async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, { counts: { worker: 2 } });
  for (const service of ['api', 'scheduler', 'reaper', 'worker'] as const) {
    const run = await killRound(cluster, service, Math.random() * 500);
    expect(run.status).toBe('completed');
  }
});

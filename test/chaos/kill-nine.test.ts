// Ten runs for each service, one kill -9 a run at a random moment: each ends completed with the right numbers, each
// log is whole, and no process of a killed worker outlives it by more than 5 s.
import { DEMONSTRATION } from '@wfg/shared/runtime/module-files';
import { expect, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { killRound } from '../support/kill-round.ts';
import { testDatabase } from '../support/postgres.ts';

const ROUNDS = 10;

test.for(['api', 'scheduler', 'reaper', 'worker'] as const)(
  'ten runs with a killed %s',
  { timeout: 600_000 },
  async (service) => {
    await using database = await testDatabase();
    await using cluster = await startCluster(database, {
      counts: { worker: 2 },
      env: { WFG_MODULES: DEMONSTRATION },
    });
    let attempts = 0;
    for (let round = 1; round <= ROUNDS; round++) {
      const delayMs = Math.random() * 1_500;
      const run = await killRound(cluster, service, delayMs);
      const again = run.jobs.filter((job) => job.attempt > 0).length;
      attempts += again;
      const took = Date.parse(run.finished_at ?? '') - Date.parse(run.created_at);
      console.log(
        `${service} ${round}: killed after ${Math.round(delayMs)} ms, ended in ${took} ms, ${again} jobs again`,
      );
    }
    // A killed worker loses what it ran; a kill of the others costs no attempt.
    expect(attempts > 0).toBe(service === 'worker');
  },
);

// Handlers as jobs of a graph: the same ones, whose outputs reach the jobs behind them.
import { submitRun } from '@wfg/shared/queries/submit';
import { defineWorkflow } from '@wfg/shared/rules/definition';
import { expect, test } from 'vitest';
import { advance, states } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, ring, startHandlerWorker } from '../../support/worker.ts';

test('a job that uses a handler hands its outputs on, and is no event', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const definition = defineWorkflow({
    name: 'n',
    jobs: {
      handle: { uses: 'test.print', with: { text: 'hello', outputs: { version: '7' } } },
      build: { needs: ['handle'], run: 'echo "::set-output got=$WFG_OUT_HANDLE_VERSION"' },
      broken: { uses: 'test.throw', with: { text: 'for good' }, retries: 1 },
      after: { needs: ['broken'], run: 'true' },
    },
  });
  const { run_id } = await submitRun(pool, null, definition, {});
  await using worker = startHandlerWorker(url);
  await jobWhen(pool, run_id, 'handle', ({ state }) => state === 'completed');
  await advance(pool);
  await ring(pool);
  expect(await jobWhen(pool, run_id, 'build', ({ state }) => state === 'completed')).toMatchObject({
    outputs: { got: '7' },
  });
  expect(await jobWhen(pool, run_id, 'broken', ({ state }) => state === 'failed')).toMatchObject({
    attempt: 1,
    tries: 2,
    error: 'it failed: for good',
  });
  await advance(pool);
  await waitFor('the run to end', async () => (await states(pool, run_id)).after === 'skipped');
  // The lines of FlowForge are about events.
  expect(worker.logs.filter((line) => line.workflow_id !== undefined)).toEqual([]);
});

// Real things of every kind in a cluster, as pages are to show them.
import { putWorkflow } from '@wfg/shared/contract/routes/workflows';
import { startRun } from '@wfg/shared/contract/routes/workflow-runs';
import { createEvent } from '@wfg/shared/contract/routes/events';
import { createSchedule } from '@wfg/shared/contract/routes/schedules';
import type { Cluster } from './cluster.ts';
import { waitFor } from './wait-for.ts';

export interface Showcase {
  /** Runs: a pipeline of which a test failed, one of many jobs, an event. */
  failed: string;
  big: string;
  event: string;
}

const RELEASE = `
name: release
jobs:
  lint:
    run: |
      echo '::group::install'; seq -f 'package %g' 1 40; echo '::endgroup::'
      printf '\\033[32m0 warnings\\033[0m and 0 errors\\n'
  unit:
    run: for i in $(seq 1 200); do printf '\\033[32mok\\033[0m %s a unit does what it says\\n' $i; done
  build:
    needs: [lint, unit]
    run: seq -f 'compiled module %g' 1 60
  e2e:
    needs: build
    retries: 1
    run: |
      seq -f '  ok %g login keeps the session' 1 30
      echo 'AssertionError: expected 200, got 503' >&2
      echo '    at checkout.test.ts:41:12' >&2
      exit 1
  image:
    needs: build
    run: echo built
  deploy:
    needs: [e2e, image]
    run: echo deployed
  notify:
    needs: deploy
    if: always()
    run: echo told
`;

function matrix() {
  const names = Array.from({ length: 60 }, (_, n) => `shard-${n + 1}`);
  const shards = Object.fromEntries(names.map((name) => [name, { needs: 'build', run: 'true' }]));
  return {
    name: 'nightly',
    jobs: { build: { run: 'true' }, ...shards, report: { needs: names, run: 'true' } },
  };
}

/** Resolves when all that ends has ended. */
export async function fillShowcase({ wfg, ended, run }: Cluster): Promise<Showcase> {
  await wfg(putWorkflow, { params: { id: 'release' }, body: RELEASE });
  await wfg(putWorkflow, { params: { id: 'nightly' }, body: matrix() });
  const start = async (id: string) => (await wfg(startRun, { params: { id }, body: {} })).run_id;
  const failed = await start('release');
  const big = await start('nightly');
  await wfg(createSchedule, {
    body: { id: 'nightly', cron: '30 2 * * *', timezone: 'Europe/Berlin', workflow_id: 'nightly' },
  });
  const expiring = { workflow_type: 'order.shipped', payload: { order: 17 }, expires_in_secs: 1 };
  await wfg(createEvent, { body: expiring });
  const event = (await wfg(createEvent, { body: { workflow_type: 'order.paid', payload: { order: 18 } } }))
    .id;
  const dead = (await wfg(createEvent, { body: expiring })).id;
  await Promise.all([failed, big].map((one) => ended(one)));
  await waitFor('a dead letter', async () => (await run(dead)).status === 'failed', 20_000);
  return { failed, big, event };
}

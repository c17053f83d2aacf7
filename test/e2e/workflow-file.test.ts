// All that a workflow file can say, from its text to what the jobs have done.
import { DEMONSTRATION } from '@wfg/shared/runtime/module-files';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { expect, test } from 'vitest';
import { askOf } from '../support/api.ts';
import { startCluster } from '../support/cluster.ts';
import { testDatabase } from '../support/postgres.ts';
import { startHandlerWorker } from '../support/worker.ts';

const SECRET = randomUUID();
const FILE = `
name: all of it
env: { STAGE: test }
timeout: 600
jobs:
  make:
    run: |
      echo "version=1.2" >> "$WFG_OUTPUT"
      echo '::set-output json={"id": 12345678901234567890, "text": "from make"}'
  unwanted: { needs: make, if: env.STAGE == 'live', run: 'true' }
  below: { needs: unwanted, run: 'true' }
  steps:
    needs: make
    env: { V: 'v\${{ needs.make.outputs.version }}' }
    steps:
      - { name: First, env: { W: '\${{ env.V }}-\${{ env.STAGE }}' }, run: 'echo "W is $W," ''\${{ not filled in }}''' }
      - { name: Not now, if: env.STAGE == 'live', run: 'echo never' }
      - { name: Fails, run: exit 4 }
      - { name: Passed over, run: echo never }
      - { name: After, if: failure(), run: echo rescued }
      - { name: At last, if: always(), run: 'echo "V is $V"' }
    retry: { max_retries: 3, not_on: [4] }
  tell:
    needs: [steps, unwanted]
    if: always()
    uses: notification.send
    retry: { max_retries: 1, backoff: None }
    with: { text: 'steps: \${{ needs.steps.result }}, unwanted: \${{ needs.unwanted.result }}' }
  handler:
    needs: make
    uses: test.print
    with:
      text: \${{ fromJSON(needs.make.outputs.json).text }}
      outputs: { said: '\${{ needs.make.result }}' }
      json: \${{ fromJSON(needs.make.outputs.json) }}
      id: 12345678901234567891
  after-handler: { needs: handler, run: 'echo "it said $WFG_OUT_HANDLER_SAID"' }
  stubborn: { run: exit 3, retry: { max_retries: 2, not_on: [3] } }
  patient: { run: 'test "$WFG_TRY" = 2 || exit 5', retry: { max_retries: 2, not_on: [3] } }
  rescue:
    needs: [stubborn, patient]
    if: failure()
    env: { R: "\${{ join(needs.*.result, ' ') }}" }
    run: echo "results $R"
  hidden: { env: { TOKEN: '${SECRET}' }, mask: [TOKEN], run: 'echo "token $TOKEN."' }
  broken: { needs: make, env: { A: '\${{ fromJSON(needs.make.outputs.version) }}', B: '\${{ fromJSON(env.STAGE) }}' }, run: 'true' }
`;

test('a file’s conditions, expressions, handlers, masks and exit codes are carried out', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, { env: { WFG_MODULES: DEMONSTRATION } });
  await using worker = startHandlerWorker(database.url);
  await worker.logged('started');
  const ask = askOf(cluster.url);
  const created = await ask('POST', '/api/workflows', FILE, { 'content-type': 'application/yaml' });
  expect(created.status).toBe(201);
  const { id } = z.object({ id: z.string() }).parse(created.body);
  const started = await ask('POST', `/api/workflows/${id}/run`);
  const { run_id } = z.object({ run_id: z.string() }).parse(started.body);
  const { status, jobs } = await cluster.ended(run_id);
  const logs = async (job: string) => (await cluster.logs(run_id, job)).map((chunk) => chunk.data).join('');

  expect(status).toBe('failed');
  expect(Object.fromEntries(jobs.map((job) => [job.job_id, job.state]))).toEqual({
    make: 'completed',
    unwanted: 'skipped',
    below: 'skipped',
    steps: 'failed',
    tell: 'completed',
    handler: 'completed',
    'after-handler': 'completed',
    stubborn: 'failed',
    patient: 'completed',
    rescue: 'completed',
    hidden: 'completed',
    broken: 'failed',
  });
  const told = Object.fromEntries(jobs.map((job) => [job.job_id, job.error]));
  expect(told.unwanted).toBe("its if is false: env.STAGE == 'live'");
  expect(told.broken).toBe('env.B: fromJSON() was given a text that is not JSON');
  expect(told.steps).toMatch(/exit code 4/);
  expect(await logs('steps')).toBe(
    [
      '=== First ===\nW is v1.2-test, ${{ not filled in }}',
      '=== Fails ===',
      '=== After ===\nrescued',
      '=== At last ===\nV is v1.2\n',
    ].join('\n'),
  );
  expect(await logs('handler')).toContain('from make');
  expect(await logs('after-handler')).toContain('it said success');
  expect(await logs('rescue')).toContain('results failure success');
  expect(await logs('hidden')).toBe('token ***.\n');
  const tries = Object.fromEntries(jobs.map((job) => [job.job_id, job.tries]));
  expect(tries).toMatchObject({ steps: 1, stubborn: 1, patient: 2, tell: 2 });
  const payloadOf = async (job: string) => {
    const { rows } = await database.pool.query<{ payload: string }>(
      `select (resolved -> 'payload')::text as payload from wfg_history where run_id = $1 and job_id = $2`,
      [run_id, job],
    );
    return rows[0]?.payload;
  };
  expect(await payloadOf('handler')).toContain('"json":{"id":12345678901234567890,"text":"from make"}');
  expect(await payloadOf('handler')).toContain('"id":12345678901234567891');
  expect(await payloadOf('tell')).toBe('{"text":"steps: failure, unwanted: skipped"}');
});

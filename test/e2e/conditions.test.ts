// A file with conditions, expressions, masks, handlers and steps after a failure, from its text to its log.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startCluster } from '../support/cluster.ts';
import { testDatabase } from '../support/postgres.ts';

const FILE = `
name: release
env: { STAGE: test }
jobs:
  build:
    mask: [TOKEN]
    env: { TOKEN: hush-hush }
    run: |
      echo "token $TOKEN"
      echo "version=1.2" >> "$WFG_OUTPUT"
  test:
    needs: build
    env: { VERSION: "v\${{ needs.build.outputs.version }}" }
    steps:
      - name: Try
        run: echo "trying $VERSION" && exit 7
      - name: Show the report
        if: failure()
        run: echo "report of $VERSION" '\${{ not filled in }}'
      - name: Never
        run: echo never
      - name: Clean up
        if: always()
        run: echo cleaned
    retry: { max_retries: 3, not_on: [7] }
  publish:
    needs: build
    if: env.STAGE == 'live'
    run: echo published
  announce:
    needs: publish
    run: echo announced
  tell:
    needs: [test, publish]
    if: always()
    uses: notification.send
    retry: { max_retries: 1, backoff: { Fixed: { delay_secs: 0 } } }
    with: { text: "test: \${{ needs.test.result }}, publish: \${{ needs.publish.result }}" }
`;

test('every part of a file does what its page says', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  const posted = await fetch(`${cluster.url}/api/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/yaml' },
    body: FILE,
  });
  expect(posted.status).toBe(201);
  const { run_id } = z.object({ run_id: z.string() }).parse(await posted.json());
  const run = await cluster.ended(run_id);
  expect(run.status).toBe('failed');
  expect(Object.fromEntries(run.jobs.map((job) => [job.job_id, [job.state, job.tries]]))).toEqual({
    build: ['completed', 1],
    test: ['failed', 1],
    publish: ['skipped', 0],
    announce: ['skipped', 0],
    tell: ['completed', 2],
  });
  const logOf = async (job: string) =>
    (await fetch(`${cluster.url}/api/runs/${run.run_id}/jobs/${job}/logs/raw`)).text();
  expect(await logOf('build')).toBe('token ***\n');
  expect(await logOf('test')).toBe(
    [
      '=== Try ===\ntrying v1.2',
      '=== Show the report ===\nreport of v1.2 ${{ not filled in }}',
      '=== Clean up ===\ncleaned\n',
    ].join('\n'),
  );
  const { rows } = await database.pool.query<{ payload: unknown }>(
    `select coalesce(resolved -> 'payload', payload) as payload from wfg_history where job_id = 'tell'`,
  );
  expect(rows[0]?.payload).toEqual({ text: 'test: failure, publish: skipped' });
});

// What wfg_submit takes for a graph, and what it refuses, saying where.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance, claim } from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { refusalOf, valueOf } from '../../support/sql.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
});

afterAll(() => db[Symbol.asyncDispose]());

const RUN = { run: 'true' };

const refused = (workflow: unknown) => refusalOf(db.pool, 'wfg_submit($1)', JSON.stringify(workflow));
const graph = (id: unknown, ...depends_on: unknown[]) => ({ id, name: 'x', command: 'true', depends_on });

function nested(depth: number): unknown {
  return depth === 0 ? {} : { jobs: nested(depth - 1) };
}

test.for([
  [null, /must be an object/],
  [[], /must be an object/],
  [nested(1_001), /nested too deeply/],
  [{ jobs: {} }, /name: must be text/],
  [{ name: '', jobs: {} }, /name: must be text/],
  [{ name: 'n' }, /jobs: must be a map/],
  [{ name: 'n', jobs: 'x' }, /jobs: must be a map/],
  [{ name: 'n', jobs: { a: 1 } }, /jobs\.a: must be a job/],
  [{ name: 'n', jobs: [1] }, /jobs\.0: must be a job/],
  [{ name: 'n', jobs: { 'a b': RUN } }, /Job id 'a b' must match/],
  [{ name: 'n', jobs: { '..': RUN } }, /Job id '\.\.' must match/],
  [{ name: 'n', jobs: [graph(undefined)] }, /jobs\.0: Job id '' must match/],
  [{ name: 'n', jobs: [graph('a'), graph('a')] }, /Job 'a' appears twice/],
  [{ name: 'n', jobs: { a: { ...RUN, needs: 'b' } } }, /Job 'a' depends on 'b', which doesn't exist/],
  [{ name: 'n', jobs: { a: { ...RUN, needs: 'a' } } }, /in a circle: a -> a$/],
  [
    { name: 'n', jobs: [graph('x'), graph('a', 'x', 'c'), graph('b', 'a'), graph('c', 'b')] },
    /: a -> c -> b -> a$/,
  ],
  [{ name: 'n', jobs: { a: { ...RUN, needs: 5 } } }, /jobs\.a: needs: must be a list/],
  [{ name: 'n', jobs: { a: { ...RUN, needs: [5] } } }, /jobs\.a: needs: must be ids/],
  [{ name: 'n', jobs: [{ id: 'a', command: 'x' }] }, /jobs\.0: depends_on: must be a list/],
  [{ name: 'n', jobs: { a: {} } }, /Job 'a': Job must have either/],
  [{ name: 'n', jobs: { a: { run: ' \n' } } }, /Job 'a': Job must have either/],
  [{ name: 'n', jobs: { a: { steps: [{ name: 'x' }] } } }, /Job 'a': Job must have either/],
  [{ name: 'n', jobs: { a: { uses: '' } } }, /jobs\.a: uses: must be/],
  [{ name: 'n', jobs: { a: { run: 'x'.repeat(1024 * 1024 + 1) } } }, /longer than 1 MiB/],
  [{ name: 'n', jobs: { a: RUN }, env: { A: 'x'.repeat(16 * 1024 * 1024) } }, /larger than 16 MiB/],
  [
    { name: 'n', jobs: Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [n, RUN])) },
    /10001 jobs are more/,
  ],
] as const)('%.80j is refused', async ([workflow, message]) => {
  expect(await refused(workflow)).toEqual({
    code: 'WF001',
    message: expect.stringMatching(new RegExp(`^the workflow is not valid: .*${message.source}`, 's')),
    hint: expect.stringContaining('deploy/workflow-file.md'),
  });
});

test('10,000 jobs in a chain, and in a circle, are checked', async () => {
  const chain = Array.from({ length: 10_000 }, (_, n) => graph(`j${n}`, ...(n > 0 ? [`j${n - 1}`] : [])));
  const run = await valueOf(db.pool, 'wfg_submit($1)', JSON.stringify({ name: 'n', jobs: chain }));
  await advance(db.pool);
  expect(await claim(db.pool)).toMatchObject([{ job_id: 'j0', run_id: run }]);
  const { code, message } = await refused({ name: 'n', jobs: [graph('j0', 'j9999'), ...chain.slice(1)] });
  expect(code).toBe('WF001');
  expect(message).toMatch(/in a circle: j0 -> j9999 -> j9998 -> .* -> j1 -> j0$/);
});

// Runs from SQL: what makes the graph is checked at once, the rest by the scheduler that reads it before anything starts.
import { withTx } from '@wfg/shared/db/tx';
import { cancelRuns } from '@wfg/shared/queries/cancel';
import { readRun, readTracedRun } from '@wfg/shared/queries/run';
import { putWorkflow } from '@wfg/shared/queries/workflows';
import { defineWorkflow } from '@wfg/shared/rules/definition';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { advance, claim, claimEvent, finish, runState, states } from '../../support/engine.ts';
import { eventsBetween } from '../../../services/api/src/live/run-events.ts';
import { emptyTables } from '../../support/foreign.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { refusalOf, valueOf } from '../../support/sql.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
});

afterAll(() => db[Symbol.asyncDispose]());

beforeEach(async () => {
  await emptyTables(db.pool);
  await db.pool.query('delete from wfg_keys; delete from wfg_history');
});

const RUN = { run: 'true' };

const submit = (workflow: unknown, key: string | null = null) =>
  valueOf(db.pool, 'wfg_submit($1, $2)', JSON.stringify(workflow), key);
const submitJobs = (jobs: unknown) => submit({ name: 'n', jobs });
const cancel = (run: string, job: string) => valueOf(db.pool, 'wfg_cancel($1, $2)::text', run, job);

test('nothing of a run is claimed before a scheduler has read it; then it is what the workflow says', async () => {
  const workflow = {
    name: 'greet',
    on: 'push',
    env: { WHO: 'world' },
    timeout: 60,
    jobs: {
      build: {
        run: 'make',
        priority: 5,
        labels: ['gpu'],
        retries: 2,
        timeout: 9,
        env: { A: '1' },
        expires_in: 30,
      },
      '007': { steps: [{ run: 'x' }], needs: ['build', 'build'] },
      seven: { uses: 'order.placed', with: { id: 12 }, needs: 'build', name: 'Place' },
    },
  };
  // JavaScript would put a number first.
  const text = JSON.stringify(workflow).replace('"seven"', '"7"');
  const run = await valueOf(db.pool, 'wfg_submit($1)', text);
  expect(await claim(db.pool, { labels: ['gpu'] })).toEqual([]);
  expect(await readRun(db.pool, run)).toMatchObject({
    name: 'greet',
    status: 'pending',
    jobs: [
      { job_id: 'build', waiting: { detail: 'waits for the scheduler' } },
      { job_id: '007' },
      { job_id: '7' },
    ],
  });
  await advance(db.pool);
  const [job] = await claim(db.pool, { labels: ['gpu'] });
  expect(job).toMatchObject({
    job_id: 'build',
    priority: 5,
    max_attempts: 3,
    timeout_secs: 9,
    run_env: { WHO: 'world' },
    spec: { run: 'make', env: { A: '1' } },
  });
  if (job) await finish(db.pool, job);
  await advance(db.pool);
  expect(await claim(db.pool, { labels: [':event order.placed'] })).toMatchObject([
    { job_id: '007' },
    { job_id: '7', workflow_type: 'order.placed', payload: { id: 12 } },
  ]);
  expect(await readRun(db.pool, run)).toMatchObject({
    jobs: [
      { job_id: 'build', state: 'completed', required_labels: ['gpu'] },
      { job_id: '007', state: 'active', depends_on: ['build'] },
      { job_id: '7', name: 'Place', state: 'active', uses: 'order.placed' },
    ],
  });
  expect(
    await valueOf(db.pool, `select deadline_at - created_at < '70 s' and submitted is null from wfg_runs`),
  ).toBe(true);
});

const graphJob = (id: string, ...depends_on: string[]) => ({
  id,
  name: id.toUpperCase(),
  command: 'true',
  depends_on,
});

test('workflow-graph’s form runs to its end', async () => {
  const run = await submit({
    id: 'ignored',
    name: 'n',
    trigger: 'push',
    jobs: [graphJob('a'), graphJob('b', 'a'), graphJob('c', 'b', 'a')],
  });
  for (const id of ['a', 'b', 'c']) {
    await advance(db.pool);
    const claimed = await claim(db.pool);
    expect(claimed.map(({ job_id }) => job_id)).toEqual([id]);
    for (const one of claimed) await finish(db.pool, one);
  }
  await advance(db.pool);
  expect(await readRun(db.pool, run)).toMatchObject({
    status: 'completed',
    jobs: [{ name: 'A' }, { name: 'B' }, { name: 'C' }],
  });
});

test('conditions and templates are judged', async () => {
  const run = await submitJobs({
    a: RUN,
    b: { ...RUN, needs: 'a', if: "needs.a.outputs.go == 'no'" },
    c: { uses: 'order.placed', needs: 'a', with: { told: '${{ needs.a.outputs.go }}' } },
    root: { ...RUN, if: 'false' },
  });
  await advance(db.pool);
  const [job] = await claim(db.pool);
  if (job) await finish(db.pool, job, { outputs: { go: 'yes' } });
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'completed', b: 'skipped', c: 'pending', root: 'skipped' });
  expect(await claimEvent(db.pool, 'order.placed')).toMatchObject({ payload: { told: 'yes' } });
});

const UNREADABLE: [object, RegExp][] = [
  [{ a: RUN, b: { ...RUN, needs: 'a', if: 'needs.a.' } }, /jobs\.b\.if/],
  [{ a: { ...RUN, env: { A: '${{ needs.x.outputs.y }}' } } }, /jobs\.a\.env\.A: needs has no 'x'/],
  [{ a: { ...RUN, typo: 1 } }, /jobs\.a\.typo: unknown key "typo"/],
];

test.for(UNREADABLE)('%j ends as failed, with the reason, before anything starts', async ([jobs, error]) => {
  const run = await submitJobs(jobs);
  await advance(db.pool);
  expect(await claim(db.pool)).toEqual([]);
  expect(await readRun(db.pool, run)).toMatchObject({
    status: 'failed',
    started_at: null,
    error: expect.stringMatching(new RegExp(`^the workflow is not valid: ${error.source}`)),
    jobs: Object.keys(jobs).map((job_id) => ({ job_id, state: 'cancelled' })),
  });
});

test('the same key and workflow give the same run, another workflow is refused', async () => {
  const jobs = { a: RUN, b: { ...RUN, needs: 'a' } };
  const run = await submit({ name: 'n', jobs }, 'k');
  expect(await submit({ jobs: { b: jobs.b, a: jobs.a }, name: 'n' }, 'k')).toBe(run);
  expect(await refusalOf(db.pool, 'wfg_submit($1, $2)', '{"name":"x","jobs":{}}', 'k')).toMatchObject({
    code: 'WF004',
  });
  expect(await valueOf(db.pool, 'select count(*)::int from wfg_runs')).toBe(1);
});

test('a stored workflow is run as it is then, also while another run goes on', async () => {
  const put = (command: string) => {
    const jobs = { a: { run: command, if: 'always()' }, b: { ...RUN, needs: 'a' } };
    return putWorkflow(db.pool, 'ci', defineWorkflow({ name: 'CI', env: { A: '1' }, jobs }));
  };
  await put('first');
  const runs = [await valueOf(db.pool, `wfg_run('ci')`), await valueOf(db.pool, `wfg_run('ci')`)];
  await put('second');
  await advance(db.pool);
  const claimed = await claim(db.pool);
  expect(claimed).toMatchObject(
    runs.map((run_id) => ({
      run_id,
      job_id: 'a',
      workflow_id: 'ci',
      run_env: { A: '1' },
      spec: { run: 'first' },
    })),
  );
  expect(await readRun(db.pool, runs[1] ?? '')).toMatchObject({
    number: (await numberOf(runs[0])) + 1,
    name: 'CI',
    workflow_id: 'ci',
  });
  expect(await refusalOf(db.pool, `wfg_run('none')`)).toMatchObject({
    code: 'WF002',
    message: `there is no workflow 'none'`,
  });
  expect(await refusalOf(db.pool, `wfg_run(null)`)).toMatchObject({ code: 'WF002' });
});

const numberOf = (run: string | undefined) =>
  valueOf<number>(db.pool, 'select number::int from wfg_runs where id = $1', run);

test('a run is cancelled, before it was read and later', async () => {
  const [early, late] = [
    await submitJobs({ a: RUN }),
    await submitJobs({ a: RUN, b: { ...RUN, needs: 'a', if: 'always()' } }),
  ];
  await valueOf(db.pool, 'wfg_cancel($1)::text', early);
  await advance(db.pool);
  expect(await runState(db.pool, early)).toBe('cancelled');
  const [job] = await claim(db.pool);
  for (let n = 0; n < 2; n++) await valueOf(db.pool, 'wfg_cancel($1)::text', late);
  await advance(db.pool);
  expect(await states(db.pool, late)).toEqual({ a: 'active', b: 'blocked' });
  if (job) await finish(db.pool, job);
  await advance(db.pool);
  expect(await states(db.pool, late)).toEqual({ a: 'cancelled', b: 'pending' });
  for (const one of await claim(db.pool)) await finish(db.pool, one);
  await advance(db.pool);
  await valueOf(db.pool, 'wfg_cancel($1)::text', late);
  const done = await submitJobs({});
  await advance(db.pool);
  expect(await refusalOf(db.pool, 'wfg_cancel($1)::text', done)).toMatchObject({
    code: 'WF003',
    message: `run ${done} has ended already: it completed`,
  });
});

test('a run that nobody has read is cancelled over HTTP as by SQL: what always runs is spared, unless forced', async () => {
  const jobs = { a: RUN, b: { ...RUN, needs: 'a', if: 'always()' }, c: { ...RUN, if: 'cancelled()' } };
  const [bySql, byHttp, forced] = [await submitJobs(jobs), await submitJobs(jobs), await submitJobs(jobs)];
  await valueOf(db.pool, 'wfg_cancel($1)::text', bySql);
  await withTx(db.pool, (tx) => cancelRuns(tx, [byHttp]));
  await withTx(db.pool, (tx) => cancelRuns(tx, [forced], true));
  expect(await claim(db.pool)).toEqual([]);
  await advance(db.pool);
  expect(await states(db.pool, bySql)).toEqual({ a: 'cancelled', b: 'pending', c: 'pending' });
  expect(await states(db.pool, byHttp)).toEqual(await states(db.pool, bySql));
  expect(await runState(db.pool, forced)).toBe('cancelled');
});

test('one job is cancelled, and what needs it skipped', async () => {
  const run = await submitJobs({ a: RUN, b: RUN, c: { ...RUN, needs: 'a' }, d: { ...RUN, needs: 'b' } });
  await cancel(run, 'a');
  await advance(db.pool);
  expect(await states(db.pool, run)).toEqual({ a: 'cancelled', b: 'pending', c: 'skipped', d: 'blocked' });
  const [b] = await claim(db.pool);
  await cancel(run, 'a');
  await cancel(run, 'b');
  expect(await refusalOf(db.pool, 'wfg_cancel($1, $2)::text', run, 'c')).toMatchObject({
    code: 'WF003',
    message: `job 'c' of run ${run} is skipped`,
  });
  expect(await refusalOf(db.pool, 'wfg_cancel($1, $2)::text', run, 'x')).toMatchObject({
    code: 'WF002',
    message: `run ${run} has no job 'x'`,
  });
  if (b) await finish(db.pool, b);
  expect(await states(db.pool, run)).toMatchObject({ b: 'cancelled', d: 'blocked' });
  await advance(db.pool);
  expect(await runState(db.pool, run)).toBe('cancelled');
  await cancel(run, 'a');
});

test('a job of a graph is requeued by its name, if it failed', async () => {
  const run = await submitJobs({ a: RUN });
  expect(await refusalOf(db.pool, 'wfg_requeue($1)::text', run)).toMatchObject({
    code: 'WF003',
    hint: expect.stringMatching(/wfg_requeue\(run, job\) while it goes on/),
  });
  expect(await refusalOf(db.pool, `wfg_requeue($1, 'a')::text`, run)).toMatchObject({
    code: 'WF003',
    hint: expect.stringMatching(/only what failed/),
  });
  expect(await refusalOf(db.pool, `wfg_requeue($1, 'main')::text`, run)).toMatchObject({ code: 'WF002' });
});

test('more than one transaction should read is read in several', async () => {
  const many = Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`j${n}`, RUN]));
  const runs: string[] = [];
  for (let n = 0; n < 3; n++) runs.push(await submitJobs(many));
  await advance(db.pool);
  for (const run of runs)
    expect(new Set(Object.values(await states(db.pool, run)))).toEqual(new Set(['pending']));
});

test('whoever watches it is told what a scheduler has read', async () => {
  const run = await submitJobs({ a: RUN, b: { ...RUN, needs: 'a', name: 'B', labels: ['gpu'] } });
  const before = await readTracedRun(db.pool, run);
  await advance(db.pool);
  const after = await readTracedRun(db.pool, run);
  expect(before && after && eventsBetween(before, after)).toMatchObject([
    { type: 'ready', job_id: 'a' },
    { type: 'changed', job_id: 'b', job: { state: 'blocked', required_labels: ['gpu'] } },
  ]);
});

// Definitions as they are stored: those of an earlier version are read and run, and every digit of a payload stays.
import { withTx } from '@wfg/shared/db/tx';
import { listSchedules, pauseSchedule } from '@wfg/shared/queries/schedules';
import { startRun } from '@wfg/shared/queries/start-run';
import { listWorkflows, readWorkflow } from '@wfg/shared/queries/workflow-views';
import { loadWorkflow, putWorkflow } from '@wfg/shared/queries/workflows';
import { readWorkflowFile } from '@wfg/shared/rules/workflow-file';
import { expect, test } from 'vitest';
import { claim, claimEvent } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';

/** As version 0.1 has written it. */
const OLD = `{"name":"old","trigger":"on: push","env":{"A":"1"},"jobs":[{"id":"a","name":"A","needs":[],"run":null,
  "steps":[{"label":"One","run":"echo \${{ x }}","env":{"B":"\${{ y }}"},"timeout":7}],"env":{"C":"3"},"timeout":5,
  "labels":[],"max_retries":2,"backoff":"None","priority":3,"metadata":{"icon":"x"},"ports":[],"children":null,
  "collapsed":false}]}`;

test('what version 0.1 stored is shown and run as it was then', async () => {
  await using db = await testDatabase();
  await db.pool.query(
    `insert into wfg_workflows (id, name, trigger, definition, source) values ('old', 'old', 'on: push', $1, 'api')`,
    [OLD],
  );
  const view = await readWorkflow(db.pool, 'old');
  expect(view?.jobs).toMatchObject([{ id: 'a', command: '# One\necho ${{ x }}', metadata: { icon: 'x' } }]);
  expect((await listWorkflows(db.pool, { states: null, offset: 0, limit: 9 })).workflows).toEqual([view]);
  await withTx(db.pool, (tx) => startRun(tx, 'old', { A: '2' }));
  expect(await claim(db.pool)).toMatchObject([
    {
      job_id: 'a',
      kind: 'command',
      max_attempts: 3,
      timeout_secs: 5,
      run_env: { A: '2' },
      spec: {
        steps: [
          { run: 'echo ${{ x }}', env: { B: '${{ y }}' }, timeout: 7, on_success: true, on_failure: false },
        ],
        env: { C: '3' },
        mask: [],
        not_on: [],
      },
    },
  ]);
});

test('a payload is handed over with every digit it has in the file', async () => {
  await using db = await testDatabase();
  const text =
    'name: n\njobs: { a: { uses: big.number, with: { id: 12345678901234567890, list: [1.5, -2, null] } } }';
  await putWorkflow(db.pool, 'n', readWorkflowFile(text));
  await withTx(db.pool, (tx) => startRun(tx, 'n', {}));
  const { payload } = await claimEvent(db.pool, 'big.number');
  expect(JSON.stringify(payload)).toBe('{"id":12345678901234567890,"list":[1.5,-2,null]}');
});

test('what a file says of its schedules replaces what it said before; one that is paused stays so', async () => {
  await using db = await testDatabase();
  const load = (hash: string, crons: string[]) => {
    const text = {
      name: 'f',
      on: { schedule: crons.map((cron) => ({ cron })) },
      jobs: { a: { run: 'true' } },
    };
    return withTx(db.pool, (tx) => loadWorkflow(tx, 'f', readWorkflowFile(JSON.stringify(text)), hash));
  };
  const stored = async () => {
    const { schedules } = await listSchedules(db.pool, undefined, 9);
    return schedules
      .map(({ id, cron, paused }) => ({ id, cron, paused }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  };
  await load('1', ['@daily', '@weekly']);
  await pauseSchedule(db.pool, 'f:1');
  await load('1', []);
  expect(await stored()).toEqual([
    { id: 'f:1', cron: '@daily', paused: true },
    { id: 'f:2', cron: '@weekly', paused: false },
  ]);
  await load('2', ['@hourly']);
  expect(await stored()).toEqual([{ id: 'f:1', cron: '@hourly', paused: true }]);
});

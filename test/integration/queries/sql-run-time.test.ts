// How much time a run from SQL has, which nobody may read for long.
import { withTx } from '@wfg/shared/db/tx';
import { timeOutRuns } from '@wfg/shared/queries/expire';
import { rerun } from '@wfg/shared/queries/rerun';
import { readRun } from '@wfg/shared/queries/run';
import { expect, test } from 'vitest';
import { advance, claim, finish, moveClock } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';
import { valueOf } from '../../support/sql.ts';

test('the clock of a run begins when it is read', async () => {
  await using db = await testDatabase();
  const workflow = { name: 'n', timeout: 60, jobs: { a: { run: 'true', expires_in: 60 } } };
  const run = await valueOf(db.pool, 'wfg_submit($1)', JSON.stringify(workflow));
  await moveClock(db.pool, '90 seconds');
  await advance(db.pool);
  const [job] = await claim(db.pool);
  expect(job).toMatchObject({ run_id: run });
  await moveClock(db.pool, '3 minutes');
  await withTx(db.pool, (tx) => timeOutRuns(tx, 10));
  await advance(db.pool);
  if (job) await finish(db.pool, job);
  await advance(db.pool);
  expect(await readRun(db.pool, run)).toMatchObject({ status: 'failed', error: 'timeout after 60 s' });
  // Nor has its rerun more time than it had.
  const again = await rerun(db.pool, run, 'failed');
  const { rows } = await db.pool.query(
    `select deadline_at = created_at + interval '60 s' as is_same, timeout_secs from wfg_runs where id = $1`,
    [again.run_id],
  );
  expect(rows).toEqual([{ is_same: true, timeout_secs: 60 }]);
});

// What is asked every second or so reads indexes only, also while the statistics are of another time.
import { lookForDue } from '@wfg/shared/queries/due';
import { lookForOverdue } from '@wfg/shared/queries/overdue';
import type { PoolClient } from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';

const BACKLOG = `
alter table wfg_jobs set (autovacuum_enabled = off);
alter table wfg_runs set (autovacuum_enabled = off);
insert into wfg_runs (name, open_jobs, settled, deadline_at)
select 'r', 10, false, wfg_now() - interval '1 s' from generate_series(1, 300);
insert into wfg_jobs (run_id, position, job_id, name, state, kind, required_labels, spec, finished_at, settled, expires_at)
select r.id, n, 'j' || n, 'x', case when n <= 5 then 'completed' else 'pending' end, 'command', '{:command}', '{"run":"true"}',
  case when n <= 5 then wfg_now() end, n > 5, wfg_now() - interval '1 s'
from wfg_runs r, generate_series(1, 10) n;
analyze wfg_jobs, wfg_runs`;

const GONE = `
update wfg_jobs set settled = true, state = 'completed', finished_at = wfg_now();
update wfg_runs set settled = true, timed_out_at = wfg_now()`;

/** How often this connection has read a table of many rows as a whole. */
async function scansOf(client: PoolClient): Promise<{ jobs: number; runs: number }> {
  const { rows } = await client.query<{ jobs: number; runs: number }>(
    `select max(seq_scan) filter (where relname = 'wfg_jobs')::int as jobs,
       max(seq_scan) filter (where relname = 'wfg_runs')::int as runs
     from pg_stat_xact_user_tables`,
  );
  return rows[0] ?? { jobs: 0, runs: 0 };
}

test('after a backlog that was there when statistics were made, nothing is looked for in whole tables', async () => {
  await using db = await testDatabase();
  await db.pool.query(BACKLOG);
  await db.pool.query(GONE);
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    const before = await scansOf(client);
    const { lanes, unsettled } = await lookForDue(client);
    expect({ lanes, unsettled }).toEqual({ lanes: [], unsettled: false });
    expect(await scansOf(client)).toEqual(before);
    expect(await lookForOverdue(client, 5)).toMatchObject({ waiting: false, runs: false });
    const { jobs, runs } = await scansOf(client);
    expect(runs).toBe(before.runs);
    // That there are more than so many jobs is read from as many rows, wherever they are.
    expect(jobs - before.jobs).toBeLessThanOrEqual(1);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

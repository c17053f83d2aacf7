// Logs that cannot be stored for longer than a lease lasts: the command waits at its pipe and keeps its lease, and in the
// end each line is there once.
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { submit } from '../../support/engine.ts';
import { newGate } from '../../support/gate.ts';
import { testDatabase } from '../../support/postgres.ts';
import { startService } from '../../support/process.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, reasonsOf, startWorker } from '../../support/worker.ts';

/** Several megabytes: far more than a worker keeps of an attempt. */
const LINES = 600_000;
const LEASE_SECS = 2;

test('nothing is lost or doubled, no more is read than fits, no try is spent, and the end is told', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  await pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused by somebody'; end $$;
    create trigger refuse before insert on wfg_logs for each row execute function refuse()`);
  // Opened by the command when all that it prints was taken from it.
  const printed = newGate();
  const run = await submit(pool, { a: { run: `seq ${LINES}; : > '${printed.path}'` } });
  await using _ = startService('reaper', { DATABASE_URL: url, REAP_INTERVAL_SECS: '1' });
  await using worker = startWorker(url, { LEASE_TTL_SECS: String(LEASE_SECS) });
  await waitFor('several leases to pass', async () => {
    const { rows } = await pool.query(
      `select from wfg_jobs where state = 'active' and wfg_now() > started_at + interval '${3 * LEASE_SECS} s'`,
    );
    return rows.length === 1;
  });
  expect((await reasonsOf(worker)).join()).toMatch(/^logs: failing for \d+ s: refused by somebody$/);
  expect(existsSync(printed.path)).toBe(false);

  await pool.query('drop trigger refuse on wfg_logs');
  const job = await jobWhen(pool, run, 'a', ({ state }) => state === 'completed');
  expect(job).toMatchObject({ attempt: 0, tries: 1, error: null });
  expect(existsSync(printed.path)).toBe(true);
  const { rows } = await pool.query<{ text: string }>(
    `select string_agg(data, '' order by sequence) as text from wfg_logs where run_id = $1`,
    [run],
  );
  const lines = (rows[0]?.text ?? '').split('\n');
  expect(lines.pop()).toBe('');
  expect(lines).toHaveLength(LINES);
  expect(lines.findIndex((line, index) => line !== String(index + 1))).toBe(-1);
  const sealed = await pool.query('select log_lines from wfg_jobs where run_id = $1', [run]);
  expect(sealed.rows).toEqual([{ log_lines: LINES }]);
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
});

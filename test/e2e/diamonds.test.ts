// Many runs at once on several copies of everything: every job once, every edge respected, nothing stuck.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

const DIAMONDS = 100;
const EDGES = [
  ['a', 'b'],
  ['a', 'c'],
  ['b', 'd'],
  ['c', 'd'],
] as const;

test('100 diamonds on two schedulers, two reapers and four workers', { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wfg-diamonds-'));
  try {
    await using database = await testDatabase();
    await using cluster = await startCluster(database, {
      counts: { scheduler: 2, reaper: 2, worker: 4 },
      env: { LEASE_TTL_SECS: '30', LOG_LEVEL: 'info' },
    });
    const file = join(folder, 'lines');
    const run = `echo "$WFG_RUN_ID $WFG_JOB_ID" >> ${file}`;
    const workflow = {
      name: 'diamond',
      jobs: { a: { run }, b: { run, needs: 'a' }, c: { run, needs: 'a' }, d: { run, needs: ['b', 'c'] } },
    };
    const runs = await Promise.all(Array.from({ length: DIAMONDS }, () => cluster.submit(workflow)));

    const states = await waitFor(
      'all runs to end',
      async () => {
        const { rows } = await database.pool.query<{ state: string; count: number }>(
          'select state, count(*)::int from wfg_runs group by 1',
        );
        return rows.every((row) => row.state !== 'open') && rows;
      },
      150_000,
    );
    expect(states).toEqual([{ state: 'completed', count: DIAMONDS }]);

    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(lines).toHaveLength(4 * DIAMONDS);
    const place = new Map(lines.map((line, index) => [line, index]));
    expect(place.size).toBe(4 * DIAMONDS);
    for (const id of runs) {
      for (const [before, after] of EDGES) {
        expect(place.get(`${id} ${before}`)).toBeLessThan(place.get(`${id} ${after}`) ?? -1);
      }
    }
    const { rows } = await database.pool.query(
      'select (select count(*)::int from wfg_jobs) as live, max(attempt) as attempt from wfg_history',
    );
    expect(rows).toEqual([{ live: 0, attempt: 0 }]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

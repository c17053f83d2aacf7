// known fault 22: the last parents of a job end within the same millisecond, on different workers, while two schedulers
// look: every child starts, once, behind all its parents.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

const DIAMONDS = 1_000;
const LIMIT_MS = 600_000;
const SUBMITTERS = 8;
const MODULE = fileURLToPath(new URL('module.ts', import.meta.url));

test('known fault 22: 1,000 diamonds of 2 to 50 parents on eight workers', {
  timeout: LIMIT_MS + 120_000,
}, async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, {
    counts: { scheduler: 2, reaper: 2, worker: 8 },
    env: { LEASE_TTL_SECS: '30', LOG_LEVEL: 'info', WFG_MODULES: MODULE },
  });
  const trail = join(inject('runFolder'), `trail-${randomUUID()}`);
  const call = { uses: 'chaos.event', with: { trail, lines: 0, ms: 0, fails: 0 } };
  const widths = Array.from({ length: DIAMONDS }, (_, n) => 2 + ((n * 31) % 49));
  const runs: { run: string; width: number }[] = [];
  const left = widths.values();
  async function submit(): Promise<void> {
    for (const width of left) {
      const names = Array.from({ length: width }, (_, n) => `p${n}`);
      const parents = Object.fromEntries(names.map((name) => [name, { ...call, needs: 'root' }]));
      const jobs = { root: call, ...parents, child: { ...call, needs: names } };
      runs.push({ run: await cluster.submit({ name: 'wide', jobs }), width });
    }
  }
  await Promise.all(Array.from({ length: SUBMITTERS }, submit));

  const states = await waitFor(
    'all runs to end',
    async () => {
      const { rows } = await database.pool.query<{ state: string; count: number }>(
        'select state, count(*)::int from wfg_runs group by 1',
      );
      return rows.every((row) => row.state !== 'open') && rows;
    },
    LIMIT_MS,
  );
  expect(states).toEqual([{ state: 'completed', count: DIAMONDS }]);

  // `<ms> start|end <run> <job> <attempt> <pid>`, in the order in which they were written.
  const lines = (await readFile(trail, 'utf8')).trimEnd().split('\n');
  const place = new Map(lines.map((line, index) => [line.split(' ').slice(1, 4).join(' '), index]));
  const jobs = widths.reduce((sum, width) => sum + width + 2, 0);
  expect({ lines: lines.length, places: place.size }).toEqual({ lines: 2 * jobs, places: 2 * jobs });
  const at = (what: string) => place.get(what) ?? Number.NaN;
  const early = runs.flatMap(({ run, width }) =>
    Array.from({ length: width }, (_, n) => `${run} p${n}`).filter(
      (parent) =>
        !(at(`end ${run} root`) < at(`start ${parent}`) && at(`end ${parent}`) < at(`start ${run} child`)),
    ),
  );
  expect(early).toEqual([]);
});

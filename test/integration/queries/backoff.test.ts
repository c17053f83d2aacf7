// The wait before a retry, computed by the database when an attempt has failed.
import type { Backoff } from '@wfg/shared/contract/backoff';
import { expect, test } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';

test('before the n-th retry it is min(base · 2^(n−1), max)', async () => {
  await using database = await testDatabase();
  const wait = async (backoff: Backoff | null, n: number) => {
    const { rows } = await database.pool.query<{ secs: number }>(
      'select extract(epoch from wfg_backoff($1::json, $2))::float8 as secs',
      [backoff && JSON.stringify(backoff), n],
    );
    return rows[0]?.secs;
  };
  const exponential: Backoff = { Exponential: { base_secs: 2, max_secs: 60 } };
  const waits = await Promise.all([1, 2, 3, 4, 5, 6, 7, 1000].map((n) => wait(exponential, n)));
  expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60, 60]);
  expect(await wait({ Exponential: { base_secs: 1, max_secs: 1_000_000_000 } }, 1000)).toBe(1_000_000_000);
  expect(await wait({ Fixed: { delay_secs: 7 } }, 3)).toBe(7);
  expect(await wait(null, 1)).toBe(0);
});

test('jitter adds up to its share', async () => {
  await using database = await testDatabase();
  const { rows } = await database.pool.query<{ least: number; most: number }>(
    `select extract(epoch from min(w))::float8 as least, extract(epoch from max(w))::float8 as most
     from (select wfg_backoff('{"Fixed":{"delay_secs":100,"jitter":0.5}}', 1) as w from generate_series(1, 500)) t`,
  );
  expect(rows[0]?.least).toBeGreaterThanOrEqual(100);
  expect(rows[0]?.least).toBeLessThan(110);
  expect(rows[0]?.most).toBeLessThanOrEqual(150);
  expect(rows[0]?.most).toBeGreaterThan(140);
});

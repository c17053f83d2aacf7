// A short storm of random graphs; test/chaos has a long one.
import { expect, test } from 'vitest';
import { stormGraphs } from '../../support/graph-storm.ts';
import { testDatabase } from '../../support/postgres.ts';

test('graphs that are retried, cancelled and lost at random all end, once and in order', async () => {
  await using db = await testDatabase();
  expect(await stormGraphs(db.pool, 4_000)).toEqual({ errors: [], doubled: 0, early: 0, gaps: 0 });
});

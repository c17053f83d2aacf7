// A long storm of random graphs, as test/integration/queries/graph-storm.test.ts is a short one.
import { expect, test } from 'vitest';
import { stormGraphs } from '../support/graph-storm.ts';
import { testDatabase } from '../support/postgres.ts';

test('graphs that are retried, cancelled and lost at random all end, once and in order', async () => {
  await using db = await testDatabase();
  expect(await stormGraphs(db.pool, 60_000)).toEqual({ errors: [], doubled: 0, early: 0, gaps: 0 });
});

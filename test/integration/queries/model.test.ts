// Random histories of claims, reports, cancels and lost leases on several connections go as a small reference says.
// `npm run chaos` plays thousands.
import { expect, test } from 'vitest';
import { findFault } from '../../support/model/check.ts';
import { testDatabase } from '../../support/postgres.ts';

const HISTORIES = 120;
const LIMIT_MS = 15_000;

test('rows are what the reference says after each line of a history', { timeout: 120_000 }, async () => {
  await using db = await testDatabase();
  expect(await findFault(db.pool, { runs: HISTORIES, seed: Date.now(), limitMs: LIMIT_MS })).toBe('');
});

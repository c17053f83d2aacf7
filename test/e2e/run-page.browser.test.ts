// The page of a run in a real browser: what was printed before it was opened, what is printed while it is,
// the end.

import { expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { startCluster } from '../support/cluster.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

test('known fault 30: a reader who comes in the middle sees all lines, then the rest and the end as they come', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  await using browser = await startBrowser();
  const print = 'for n in 1 2 3 4 5 6; do echo "line $n"; sleep 0.5; done';
  const run = await cluster.submit({
    name: 'print',
    jobs: { a: { run: print }, b: { run: 'true', needs: 'a' } },
  });
  await waitFor('the first lines', async () => (await cluster.logs(run, 'a')).length > 1);

  const { page, faults } = await browser.open(`${cluster.url}/runs/${run}/jobs/a`);
  await page.getByText('line 1', { exact: true }).waitFor();
  await page.getByText('line 6', { exact: true }).waitFor();
  await page.locator('.run-head').getByText('Completed').waitFor();
  expect((await cluster.run(run)).status).toBe('completed');
  expect(await page.getByText(/^line \d$/).allTextContents()).toEqual(
    [1, 2, 3, 4, 5, 6].map((n) => `line ${n}`),
  );
  expect(faults).toEqual([]);
});

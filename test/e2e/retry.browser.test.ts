// The page of a task that stopped: why, at which step, and that it goes on when told to.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { startTask } from '@wfg/shared/sdk/sdk';
import { startBrowser } from '../support/browser.ts';
import { startCluster } from '../support/cluster.ts';
import { testDatabase } from '../support/postgres.ts';
import { faults } from '../support/tasks.ts';
import { startHandlerWorker } from '../support/worker.ts';

const TASKS = fileURLToPath(new URL('../support/tasks.ts', import.meta.url));

test('a stopped task is run again from its page', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, { counts: { worker: 0 } });
  await using worker = startHandlerWorker(database.url, {}, [TASKS]);
  await worker.logged('handlers loaded');
  await using browser = await startBrowser();
  const gate = join(inject('runFolder'), randomUUID());
  const id = await startTask(database.pool, faults, { step: 'Open', state: { gate } });

  const { page, faults: problems } = await browser.open(`${cluster.url}/runs/${id}`);
  await page.locator('.run-head').getByText('Failed').waitFor();
  await page.getByText('the gate is closed').first().waitFor();
  await writeFile(gate, '');
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.locator('.run-head').getByText('Completed').waitFor();
  expect(await page.getByRole('button', { name: 'Run again' }).count()).toBe(0);
  expect(problems).toEqual([]);
});

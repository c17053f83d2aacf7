// The page where a token is asked for, in a real browser: logging in, following a run live, losing the session in the
// middle of it, logging out.
import { createClient } from '@wfg/shared/client/client';
import { submitRun } from '@wfg/shared/contract/routes/runs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { startCluster } from '../support/cluster.ts';
import { newGate } from '../support/gate.ts';
import { testDatabase } from '../support/postgres.ts';
import { ring } from '../support/worker.ts';

const TOKEN = 'a-token-for-tests-1';

async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Admin token').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
}

test('a reader logs in, follows a run live, and logs out', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, { env: { WFG_ADMIN_TOKEN: TOKEN } });
  await using browser = await startBrowser();
  const wfg = createClient({ url: cluster.url, token: TOKEN });
  const [first, second] = [newGate(), newGate()];
  const print = `echo line 1; ${first.wait}; echo line 2; ${second.wait}; echo line 3`;
  const { run_id } = await wfg(submitRun, { body: { name: 'print', jobs: { a: { run: print } } } });

  const { page, faults } = await browser.open(`${cluster.url}/runs/${run_id}/jobs/a`);
  const line = (number: number) => page.getByText(`line ${number}`, { exact: true });
  const question = page.getByRole('heading', { name: 'Log in to wfg' });
  await question.waitFor();
  expect(await page.locator('#token:focus').count()).toBe(1);
  expect(faults).toEqual([]);
  await logIn(page, 'a-wrong-token-for-tests');
  await page.getByRole('alert').getByText('that is not the token').waitFor();
  // The browser's own word about the refusal.
  expect(faults.splice(0)).toEqual([expect.stringContaining('401')]);

  await logIn(page, TOKEN);
  await line(1).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await first.open();
  await line(2).waitFor();
  expect(faults).toEqual([]);
  expect(await page.evaluate('document.cookie')).toBe('');
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', secure: false, path: '/' });

  // What follows the run has nothing to ask again: the socket's end tells it.
  await database.pool.query('delete from wfg_sessions');
  await ring(database.pool, '{"v":1,"tokens":true}');
  await page.getByRole('alert').getByText('Your session has ended').waitFor();
  expect(await line(1).count()).toBe(0);
  await logIn(page, TOKEN);
  await line(2).waitFor();
  await second.open();
  await line(3).waitFor();
  await page.locator('.run-head').getByText('Completed').waitFor();

  faults.splice(0);
  await page.getByRole('button', { name: 'Log out' }).click();
  await question.waitFor();
  expect(new URL(page.url()).pathname).toBe(`/runs/${run_id}/jobs/a`);
  expect(await page.context().cookies()).toEqual([]);
  expect(faults).toEqual([]);
});

test('where no token is asked for there is nothing to log in to or out of', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, { counts: { worker: 0, scheduler: 0, reaper: 0 } });
  await using browser = await startBrowser();
  const { page, faults } = await browser.open(cluster.url);
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(0);
  expect(faults).toEqual([]);
});

// The pages that list things, in a real browser: what is there, what narrows it, and what is done from them.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

const stack = new AsyncDisposableStack();
let cluster: Cluster;
let browser: Awaited<ReturnType<typeof startBrowser>>;

beforeAll(async () => {
  const database = stack.use(await testDatabase());
  cluster = stack.use(await startCluster(database));
  browser = stack.use(await startBrowser());
});
afterAll(() => stack.disposeAsync());

const JSON_BODY = { 'content-type': 'application/json' };
const open = (path: string) => browser.open(`${cluster.url}${path}`);

/** KB of JavaScript, as it is sent compressed, for the first page. */
const MOST_KB = 45;

test('the first load is small, and nothing of it comes from elsewhere', async () => {
  const { page, faults } = await open('/');
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  const scripts = await page.evaluate<string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js'))`,
  );
  const texts = await Promise.all(scripts.map(async (url) => (await fetch(url)).text()));
  const kb = texts.reduce((sum, text) => sum + gzipSync(text).length, 0) / 1_024;
  console.log(`first load: ${kb.toFixed(1)} KB of JavaScript in ${scripts.length} files`);
  expect(kb).toBeGreaterThan(5);
  expect(kb).toBeLessThanOrEqual(MOST_KB);
  expect(faults).toEqual([]);
});

test('runs come and change by themselves, are narrowed by the address, and say why there are none', async () => {
  const { page, faults } = await open('/');
  await page.getByText('No workflow has run yet.').waitFor();
  // Events have a page of their own.
  const body = JSON.stringify({ workflow_type: 'no.handler' });
  await fetch(`${cluster.url}/workflows`, { method: 'POST', headers: JSON_BODY, body });
  const good = await cluster.submit({ name: 'good', jobs: { a: { run: 'true' } } });
  await page.getByRole('row', { name: /good.*Completed/ }).waitFor();
  await cluster.submit({ name: 'bad', jobs: { a: { run: 'exit 1' } } });
  await page.getByRole('row', { name: /bad.*Failed/ }).waitFor();
  expect(await page.getByRole('row', { name: /no.handler/ }).count()).toBe(0);
  await page.getByRole('combobox', { name: 'Of', exact: true }).selectOption('All');
  await page.getByRole('row', { name: /no.handler.*Pending/ }).waitFor();
  await page.getByRole('combobox', { name: 'Of', exact: true }).selectOption('Workflows');
  await page.getByLabel('Status').selectOption('Failed');
  await page.waitForURL(/status=failed/);
  await waitFor('one row', async () => (await page.locator('tbody tr').count()) === 1);
  await page.reload();
  await page.getByRole('row', { name: /bad.*Failed/ }).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(1);
  await page.getByLabel('Label').fill('gpu');
  await page.getByText('No runs match.').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('row', { name: /good.*Completed/ }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(good));
  expect(faults).toEqual([]);
});

test('a workflow is written, its faults told in place, started with a variable, and removed', async () => {
  const { page } = await open('/definitions');
  await page.getByRole('button', { name: 'New workflow…' }).click();
  const text = page.getByLabel('Its text');
  await text.fill('name: greet\njobs:\n  hello:\n    run: echo "hello $WHO"\n    need: nobody\n');
  await page.getByRole('button', { name: 'Store' }).click();
  await page
    .getByRole('alert')
    .getByText(/line 5.*unknown key "need"/)
    .waitFor();
  await text.fill('name: greet\njobs:\n  hello:\n    run: echo "hello $WHO"\n');
  await page.getByRole('button', { name: 'Store' }).click();
  await page.getByRole('heading', { name: 'greet' }).waitFor();
  await page.getByText('It has not run yet.').waitFor();
  const own = page.url();

  await page.getByRole('button', { name: /Run now/ }).click();
  await page.getByLabel(/Variables/).fill('not a variable');
  await page.getByText('Each line must be NAME=value.').waitFor();
  await page.getByLabel(/Variables/).fill('WHO=you');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('hello you', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Rerun…' }).click();
  await page.getByText('One job runs in a new run').waitFor();
  await page.getByRole('button', { name: 'Rerun', exact: true }).click();
  await page.getByText('Rerun of').waitFor();

  await page.goto(own);
  await waitFor('both runs', async () => (await page.locator('tbody .row-link').count()) === 2);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.waitForURL(/\/definitions$/);
  expect((await fetch(own.replace('/definitions/', '/api/workflows/').concat('/status'))).status).toBe(404);
});

test('an event is stored from the page, and a dead letter is grouped by its reason and requeued', async () => {
  const { page } = await open('/events');
  await page.getByRole('button', { name: 'New event…' }).click();
  await page.getByLabel('Type').last().fill('no.handler');
  await page.getByLabel(/Payload/).fill('{"a": ');
  await page.getByRole('dialog').getByRole('alert').waitFor();
  expect(await page.getByRole('button', { name: 'Store' }).isDisabled()).toBe(true);
  await page.getByLabel(/Payload/).fill('{"a": 1}');
  await page.getByRole('button', { name: 'Store' }).click();
  await page.waitForURL(/\/runs\//);

  const body = JSON.stringify({ workflow_type: 'no.handler', expires_in_secs: 1 });
  for (let n = 0; n < 2; n++)
    await fetch(`${cluster.url}/workflows`, { method: 'POST', headers: JSON_BODY, body });
  await page.goto(`${cluster.url}/dead`);
  await waitFor(
    'both in one group',
    async () => (await page.locator('.group .table tr').count()) === 2,
    20_000,
  );
  expect(await page.locator('.group').count()).toBe(1);
  await page
    .getByRole('button', { name: /^Requeue ?:/ })
    .first()
    .click();
  await page.getByRole('button', { name: /^Requeued/ }).waitFor();
  await page.getByRole('button', { name: 'Requeue all…' }).click();
  await page.getByRole('button', { name: 'Requeue them' }).click();
  await page.getByText(/\d of \d requeued: done/).waitFor();
});

test('a schedule is seen with its times, paused, resumed, run and deleted', async () => {
  const body = { id: 'hourly', cron: '0 * * * *', workflow_type: 'no.handler' };
  await fetch(`${cluster.url}/api/schedules`, {
    method: 'POST',
    headers: JSON_BODY,
    body: JSON.stringify(body),
  });
  const { page, faults } = await open('/schedules');
  expect(faults).toEqual([]);
  const card = page.getByRole('region', { name: 'Schedule hourly' });
  await card.getByText('Ticks').click();
  await waitFor('five times', async () => (await card.locator('.ticks li').count()) === 5);
  await card.getByRole('button', { name: 'Pause' }).click();
  await card.getByText('paused').waitFor({ timeout: 15_000 });
  await card.getByRole('button', { name: 'Resume' }).click();
  await card.getByRole('button', { name: 'Pause' }).waitFor({ timeout: 15_000 });
  await card.getByRole('button', { name: 'Run now' }).click();
  await page.waitForURL(/\/runs\//);
  await page.goBack();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('Nothing is started on time yet.').waitFor({ timeout: 15_000 });
});

test('workers are listed as they live', async () => {
  const { page, faults } = await open('/workers');
  await page.getByRole('row', { name: /worker-1.*(Idle|Busy)/ }).waitFor();
  cluster.of('worker')[0]?.signal('SIGTERM');
  await page.getByText('There is no worker, so nothing runs.').waitFor();
  expect(faults).toEqual([]);
});

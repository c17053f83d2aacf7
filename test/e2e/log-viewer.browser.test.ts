// The log viewer in a real browser: what a reader does with a log, and that no line is lost or twice whatever breaks.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { newGate } from '../support/gate.ts';
import { testDatabase } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
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

async function openLog(run: string, rest = '', url = cluster.url): Promise<{ page: Page; faults: string[] }> {
  const opened = await browser.open(`${url}/runs/${run}/jobs/a${rest}`);
  await opened.page.locator('.log-row').first().waitFor();
  return opened;
}

async function ended(command: string | object): Promise<string> {
  const job = typeof command === 'string' ? { run: command } : command;
  const run = await cluster.submit({ name: 'w', jobs: { a: job } });
  await cluster.ended(run);
  return run;
}

/** Keys go to the search. */
const searching = (page: Page) => page.locator('.find-bar input:focus').waitFor();
/** Lines in view, by their numbers. */
const numbers = (page: Page) =>
  page.locator('.log-number').evaluateAll((all) => all.map((one) => Number(one.getAttribute('data-number'))));
const group = (name: string, lines: string) => `echo '::group::${name}'; ${lines}; echo '::endgroup::'`;
const top = (page: Page) => page.locator('.log-region').evaluate((region) => region.scrollTop);

test('what is searched is counted over all lines, marked, and gone to', async () => {
  const { page, faults } = await openLog(await ended('seq 1 50000; printf "\\033[31m5\\033[0m0 Apples\\n"'));
  await page.getByText('50,001 lines, complete').waitFor();
  await page.locator('.log-region').focus();
  await page.keyboard.press('Control+f');
  await searching(page);
  await page.keyboard.type('50');
  await page.getByText('1,497 lines', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('1 of 1,497 lines').waitFor();
  await page.keyboard.press('Shift+Enter');
  await page.getByText('1,497 of 1,497 lines').waitFor();
  await page.locator('[data-found] mark').nth(1).waitFor();
  expect(await page.locator('[data-found] mark').allTextContents()).toEqual(['5', '0']);

  const field = page.getByRole('searchbox', { name: 'Find in the log' });
  await page.getByRole('button', { name: 'Regular expression' }).click();
  await field.fill('^4999[0-9]$');
  await page.getByText('10 lines', { exact: true }).waitFor();
  await field.fill('(');
  await page.getByText(/unterminated group/i).waitFor();
  await page.getByRole('button', { name: 'Regular expression' }).click();
  await field.fill('apples');
  await page.getByText('1 line', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Match case' }).click();
  await page.getByText('no line', { exact: true }).waitFor();
  await field.press('Escape');
  expect(await field.count()).toBe(0);
  expect(await page.locator('mark').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('a line and a range have an address, which leads back to them', async () => {
  const { page } = await openLog(await ended('seq 1 5000'));
  await page.getByRole('link', { name: 'Line 3', exact: true }).click();
  await page.getByRole('link', { name: 'Line 7', exact: true }).click({ modifiers: ['Shift'] });
  expect(page.url()).toMatch(/#L3-L7$/);
  expect(await page.locator('[data-pointed]').count()).toBe(5);
  await page.goto(page.url().replace('#L3-L7', '#L2500-L2502'));
  await page.reload();
  await waitFor('the lines to be there', async () => (await page.locator('[data-pointed]').count()) === 3);
  expect(await page.locator('[data-pointed]').allInnerTexts()).toEqual(['2500', '2501', '2502']);
  expect(await page.getByText('2501', { exact: true }).isVisible()).toBe(true);
});

test('times are shown in four ways and are no part of the text', async () => {
  const { page } = await openLog(await ended('echo one; sleep 0.3; echo two'));
  const times = () =>
    page.locator('.log-time').evaluateAll((all) => all.map((one) => one.getAttribute('data-time') ?? ''));
  expect(await times()).toEqual([]);
  await page.keyboard.press('t');
  expect(await times()).toEqual(['0.000', expect.stringMatching(/^0\.[2-9]/)]);
  await page.keyboard.press('t');
  expect(await times()).toEqual(['+0.000', expect.stringMatching(/^\+0\.[2-9]/)]);
  await page.keyboard.press('t');
  expect(await times()).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3}$/), expect.anything()]);
  await page.locator('.log-region').click();
  const copied = await page.evaluate<string>(
    `(getSelection().selectAllChildren(document.querySelector('.log-rows')), getSelection().toString())`,
  );
  expect(copied.split('\n').filter((line) => line !== '')).toEqual(['one', 'two']);
  await page.keyboard.press('t');
});

test('groups fold: those that went well by themselves, and the last of a job that failed is open', async () => {
  const run = await ended(`${group('install', 'seq 1 500')}; ${group('test', 'echo broken')}; exit 1`);
  const { page } = await openLog(run);
  const install = page.getByRole('button', { name: /^install/ });
  expect(await install.getAttribute('aria-expanded')).toBe('false');
  expect(await install.innerText()).toContain('500 lines');
  expect(await page.getByRole('button', { name: /^test/ }).getAttribute('aria-expanded')).toBe('true');
  await page.getByText('broken', { exact: true }).waitFor();
  await install.click();
  await page.getByText('3', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Fold all' }).click();
  expect(await page.locator('.log-row').count()).toBe(2);
  // A match in what is folded opens it.
  await page.keyboard.press('n');
  await searching(page);
  await page.keyboard.type('broken');
  await page.keyboard.press('Enter');
  await page.locator('[data-found]').getByText('broken').waitFor();
});

test('stderr is marked and can be had alone, long lines are wrapped to what is seen', async () => {
  const { page } = await openLog(
    await ended('echo out; echo err >&2; head -c 1000 /dev/zero | tr "\\0" x; echo; echo last'),
  );
  await page.locator('[data-stream="stderr"]').getByText('err').waitFor();
  await page.keyboard.press('e');
  await waitFor('one row', async () => (await page.locator('.log-row').count()) === 1);
  await page.keyboard.press('e');
  const wide = () =>
    page.locator('.log-region').evaluate((region) => region.scrollWidth > region.clientWidth);
  expect(await wide()).toBe(true);
  await page.keyboard.press('w');
  await waitFor('it to be wrapped', async () => !(await wide()));
  const long = page.locator('.log-row').filter({ hasText: 'xxxxx' });
  const height = async () => (await long.boundingBox())?.height ?? 0;
  await waitFor('it to be tall', async () => (await height()) > 20);
  // No more of it than there is room for.
  expect(await long.evaluate((row) => row.scrollHeight <= row.clientHeight)).toBe(true);
  await page.keyboard.press('w');
});

test('attempts are told apart, with their reasons', async () => {
  const command = 'if [ "$WFG_ATTEMPT" = 0 ]; then echo first; exit 3; else echo second; fi';
  const { page } = await openLog(await ended({ run: command, retries: 1 }));
  await page.getByText('first', { exact: true }).waitFor();
  await page.getByText('second', { exact: true }).waitFor();
  await page.getByRole('button', { name: /0 failed/ }).click();
  await page.waitForURL(/attempt=0/);
  await page
    .getByText(/exit code 3/)
    .first()
    .waitFor();
  await waitFor(
    'its own lines alone',
    async () => (await page.getByText('second', { exact: true }).count()) === 0,
  );
  await page.getByText('first', { exact: true }).waitFor();
  const { url, text } = await page.evaluate<{ url: string; text: string }>(
    `(async () => { const { href } = [...document.querySelectorAll('a')].find((a) => a.textContent === 'Download');
      return { url: href, text: await (await fetch(href)).text() }; })()`,
  );
  expect([url, text]).toEqual([expect.stringMatching(/raw\?attempt=0$/), 'first\n']);
});

test('a reader in the middle stays there while a thousand lines come, and is told of them', async () => {
  const gate = newGate();
  const run = await cluster.submit({
    name: 'w',
    jobs: { a: { run: `seq 1 1000; ${gate.wait}; seq 1001 2000` } },
  });
  const { page } = await openLog(run);
  await page.getByText('1000', { exact: true }).waitFor();
  await page.locator('.log-region').hover();
  await page.mouse.wheel(0, -5_000);
  await waitFor('it to be left', async () => (await numbers(page)).every((number) => number < 990));
  const before = await top(page);
  const seen = await numbers(page);
  await gate.open();
  await page.getByRole('button', { name: '1,000 new lines' }).waitFor();
  expect(await top(page)).toBe(before);
  expect(await numbers(page)).toEqual(seen);
  await page.keyboard.press('f');
  await page.getByText('2000', { exact: true }).waitFor();
});

test('a socket that is cut twenty times loses no line and doubles none', async () => {
  await using proxy = await TcpProxy.start(cluster.url);
  const count = 2_000;
  const run = await cluster.submit({
    name: 'w',
    jobs: { a: { run: `for i in $(seq 1 ${count}); do echo "line $i"; sleep 0.005; done` } },
  });
  const { page } = await openLog(run, '', proxy.url.replace(/\/$/, ''));
  for (let cut = 0; cut < 20; cut++) {
    const before = await page.locator('.log-foot').innerText();
    proxy.cut();
    await page
      .getByRole('button', { name: 'Try now' })
      .click({ timeout: 2_000 })
      .catch(() => undefined);
    await waitFor('more to come', async () => (await page.locator('.log-foot').innerText()) !== before);
    if (before.includes('complete')) break;
  }
  await page.getByText(`${count.toLocaleString()} lines, complete`).waitFor({ timeout: 60_000 });
  // All of them, as they are copied.
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toBe(Array.from({ length: count }, (_, n) => `line ${n + 1}\n`).join(''));
});

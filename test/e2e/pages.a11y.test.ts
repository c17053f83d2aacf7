// Every page, with things in it and without, light and wide, dark and narrow: no breach of WCAG 2.2 AA that axe finds,
// nothing wider than the screen, no error in the console.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { fillShowcase, type Showcase } from '../support/showcase.ts';
import { testDatabase } from '../support/postgres.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RUN_AXE = `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html, failureSummary }) => [id, html.slice(0, 200), failureSummary])))`;
/** Each look with a size of its own: colours and widths are two things. */
const LOOKS = {
  light: { width: 1440, height: 900 },
  dark: { width: 390, height: 844 },
};
type Look = keyof typeof LOOKS;
const ALL: Look[] = ['light', 'dark'];

const stack = new AsyncDisposableStack();
let empty: Cluster;
let full: Cluster;
let shown: Showcase;
let browser: Awaited<ReturnType<typeof startBrowser>>;

beforeAll(async () => {
  empty = stack.use(await startCluster(stack.use(await testDatabase()), { counts: { worker: 0 } }));
  full = stack.use(await startCluster(stack.use(await testDatabase()), { env: { WORKER_CONCURRENCY: '4' } }));
  shown = await fillShowcase(full);
  browser = stack.use(await startBrowser());
}, 120_000);
afterAll(() => stack.disposeAsync());

const LISTS = ['/', '/definitions', '/events', '/dead', '/schedules', '/workers'];

/** With the path before each. */
async function faultsOf(url: string, look: Look): Promise<unknown[]> {
  const { page, faults } = await browser.open(url);
  await page.emulateMedia({ colorScheme: look, reducedMotion: 'reduce' });
  await page.setViewportSize(LOOKS[look]);
  await page.locator('main h1, main .run-head').first().waitFor();
  const unfinished = page.getByText(/^(Loading|Reading the .*)…$/);
  await unfinished.first().waitFor({ state: 'detached' });
  await page.evaluate(AXE);
  const found = [...(await page.evaluate<unknown[]>(RUN_AXE)), ...(await widerThan(page, LOOKS[look].width))];
  await page.close();
  return [...found, ...faults].map((fault) => [new URL(url).pathname, fault]);
}

async function widerThan(page: Page, width: number): Promise<string[]> {
  const own = await page.evaluate<number>('document.documentElement.scrollWidth');
  return own > width ? [`${own} px wide on a screen of ${width}`] : [];
}

test('empty pages', async () => {
  const found: unknown[] = [];
  for (const path of LISTS) found.push(...(await faultsOf(`${empty.url}${path}`, 'light')));
  expect(found).toEqual([]);
});

test.for(ALL)('pages with things in them, %s', async (look) => {
  const { failed, big, event } = shown;
  const tabs = ['graph', 'timeline', 'list'];
  const runs = [...tabs.map((tab) => `/runs/${failed}?tab=${tab}`), `/runs/${big}`, `/runs/${event}`];
  const found: unknown[] = [];
  for (const path of [...LISTS, '/definitions/release', '/nowhere', ...runs])
    found.push(...(await faultsOf(`${full.url}${path}`, look)));
  expect(found).toEqual([]);
});

test('the dialogs', async () => {
  const { page } = await browser.open(`${full.url}/runs/${shown.failed}`);
  const check = async () => {
    await page.evaluate(AXE);
    expect(await page.evaluate<unknown[]>(RUN_AXE)).toEqual([]);
  };
  await page.getByRole('button', { name: 'Rerun…' }).click();
  await check();
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Follow the end').waitFor();
  await check();
});

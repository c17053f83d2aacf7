// known fault 31: the page of a job with a long log, which is in colours.
import type { CDPSession, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { startCluster } from '../support/cluster.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

const LINES = 100_000;
/** Rows that are drawn: those in view, and some around them. */
const MOST_ROWS = 200;
const MIB = 1024 * 1024;

/** So many lines of 200 characters, with colours that change within them. */
const PRINT = String.raw`awk 'BEGIN { for (i = 1; i <= ${LINES}; i++) {
  s = sprintf("\033[32m%06d\033[0m \033[1;31mred\033[0m ", i); while (length(s) < 200) s = s "abcdefghij"; print substr(s, 1, 200) } }'`;

/** Seconds for which the page came to nothing else, at the most, since it was asked last. */
async function longestTask(page: Page): Promise<number> {
  return page.evaluate<number>('const was = globalThis.longest / 1_000; globalThis.longest = 0; was');
}

async function measured(session: CDPSession): Promise<Record<string, number>> {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

test('known fault 31: a log of 100,000 lines in colours is drawn by what is in view', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  await using browser = await startBrowser();
  const run = await cluster.submit({ name: 'long', jobs: { a: { run: PRINT } } });
  expect(await cluster.ended(run)).toMatchObject({ status: 'completed' });

  const { page, faults } = await browser.open(`${cluster.url}/runs/${run}`);
  // Of the browser, and not of Node, whose types are these.
  await page.addInitScript(`
    let last = performance.now();
    globalThis.longest = 0;
    setInterval(() => {
      const now = performance.now();
      globalThis.longest = Math.max(globalThis.longest, now - last);
      last = now;
    }, 10);`);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');

  const opened = performance.now();
  await page.goto(`${cluster.url}/runs/${run}/jobs/a`);
  await page.getByText('000001', { exact: true }).waitFor();
  const painted = performance.now();
  await page.getByText('100,000 lines, complete').waitFor({ timeout: 60_000 });
  const complete = performance.now();
  const loading = await longestTask(page);

  const region = page.locator('.log-region');
  const scrolling = performance.now();
  await region.evaluate((element) => {
    element.scrollTop = element.scrollHeight;
  });
  await page.getByText('100000', { exact: true }).waitFor();
  const scrolled = performance.now();
  const rows = await page.locator('.log-row').count();
  expect(rows).toBeGreaterThan(5);
  expect(rows).toBeLessThan(MOST_ROWS);
  // From place to place, rows come and go, and nothing else of the page is made anew.
  const before = await measured(session);
  for (let place = 0; place < 20; place++) {
    await region.evaluate((element, at) => {
      element.scrollTop = (element.scrollHeight * at) / 20;
    }, place);
    await waitFor('rows to be drawn', async () => (await page.locator('.log-row').count()) > 5);
  }
  const after = await measured(session);
  expect(await page.locator('.log-row').count()).toBeLessThan(MOST_ROWS);
  expect(after.Nodes).toBeLessThan((before.Nodes ?? 0) + 50 * MOST_ROWS);
  // It measures no time: so much would be ten times what it keeps.
  const heap = (after.JSHeapUsedSize ?? 0) / MIB;
  expect(heap).toBeLessThan(300);
  expect(faults).toEqual([]);
  console.log(
    `known fault 31: first paint ${secs(painted - opened)} s, all of it ${secs(complete - opened)} s, ` +
      `to the end ${secs(scrolled - scrolling)} s, longest task ${loading.toFixed(2)} s loading and ` +
      `${(await longestTask(page)).toFixed(2)} s scrolling, heap ${heap.toFixed(0)} MiB, ${rows} rows`,
  );
});

function secs(ms: number): string {
  return (ms / 1_000).toFixed(2);
}

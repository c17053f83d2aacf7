// The graph of a run in a real browser: drawn whole from the start, live, still, walked by pointer and by keys.
import { createSample } from '@wfg/shared/contract/routes/workflows';
import { startRun } from '@wfg/shared/contract/routes/workflow-runs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { newGate } from '../support/gate.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

const stack = new AsyncDisposableStack();
let cluster: Cluster;
let browser: Awaited<ReturnType<typeof startBrowser>>;

beforeAll(async () => {
  const database = stack.use(await testDatabase());
  cluster = stack.use(await startCluster(database, { env: { WORKER_CONCURRENCY: '8' } }));
  browser = stack.use(await startBrowser());
});
afterAll(() => stack.disposeAsync());

const NOBODY = { labels: ['nobody'] };
const many = (count: number, needs: (n: number) => number[], more: object = {}) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `j${n}`,
      { run: 'true', needs: needs(n).map((of) => `j${of}`), ...more },
    ]),
  );

async function openRun(run: string, path = ''): Promise<{ page: Page; faults: string[] }> {
  const opened = await browser.open(`${cluster.url}/runs/${run}${path}`);
  await opened.page.locator('.graph-lines path').first().waitFor({ state: 'attached' });
  return opened;
}

/** Where each box stands in the graph, and how the graph is seen. */
async function still(page: Page): Promise<{ view: string; boxes: (string | null)[][] }> {
  const view = (await page.locator('.graph-world').getAttribute('style')) ?? '';
  const boxes = await page
    .locator('[data-box]')
    .evaluateAll((all) => all.map((box) => [box.getAttribute('data-box'), box.getAttribute('style')]));
  return { view, boxes };
}

const placeOf = (view: string) =>
  (view.match(/-?[\d.]+(?=px)/g) ?? []).map((text) => Math.round(Number(text)));

/** Chooses the graph's tab; milliseconds until the frame after its boxes are there. */
const OPEN_GRAPH = `(async () => {
  const link = [...document.querySelectorAll('.tabs a')].find((one) => one.textContent === 'Graph');
  const startedAt = performance.now();
  link.click();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  while (!document.querySelector('.graph-far')) await frame();
  await frame();
  return performance.now() - startedAt;
})()`;

test('D3 99, 100: the sample is drawn with 8 jobs, 7 edges and 4 columns, each with its state and time', async () => {
  const { id } = await cluster.wfg(createSample, {});
  const { run_id: run } = await cluster.wfg(startRun, { params: { id }, body: {} });
  const { page, faults } = await openRun(run);
  const { boxes } = await still(page);
  expect(boxes).toHaveLength(8);
  expect(new Set(boxes.map(([, style]) => /left: \w+/.exec(style ?? '')?.[0])).size).toBe(4);
  // One path has all lines, each beginning by M.
  expect((await page.locator('.graph-lines path').first().getAttribute('d'))?.match(/M/g)).toHaveLength(7);
  // Without a reload.
  await waitFor(
    'all to be seen completed',
    async () => (await page.locator('.graph-node .icon-check').count()) === 8,
    30_000,
  );
  expect(await page.locator('.graph-node .graph-time').first().textContent()).toMatch(/^\d+(\.\d)?s$/);
  expect(faults).toEqual([]);
});

test('D3 101, 104: what is pointed at shows its path; a click, arrows and Escape choose', async () => {
  const run = await cluster.submit({
    name: 'w',
    jobs: {
      a: { run: 'true', ...NOBODY },
      b: { run: 'true', needs: 'a' },
      c: { run: 'true', needs: 'a' },
      d: { run: 'true', needs: 'c' },
    },
  });
  const { page } = await openRun(run);
  await page.locator('[data-box="c"]').hover();
  await waitFor(
    'b to be faint',
    async () => (await page.locator('[data-box="b"][data-faint]').count()) === 1,
  );
  expect(await page.locator('[data-faint][data-box]').count()).toBe(1);
  expect(await page.locator('.graph-lit').getAttribute('d')).toMatch(/^M[^M]+M[^M]+$/);
  await page.locator('[data-box="c"]').click();
  await page.waitForURL(/\/jobs\/c/);
  expect(await page.locator('[data-box="c"][aria-current]').count()).toBe(1);
  await page.locator('[data-box="c"]').focus();
  await page.keyboard.press('ArrowRight');
  await page.locator('[data-box="d"]:focus').waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowUp');
  await page.locator('[data-box="b"]:focus').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/jobs\/b/);
  await page.keyboard.press('Escape');
  await page.waitForURL(new RegExp(`/runs/${run}$`));
});

test('D3 102: pan, zoom about the pointer from a quarter to four, fit', async () => {
  const run = await cluster.submit({ name: 'w', jobs: many(60, (n) => (n < 3 ? [] : [n - 3]), NOBODY) });
  const { page } = await openRun(run);
  await page.getByRole('button', { name: 'Fit' }).click();
  const frame = page.locator('.graph-frame');
  const { x, y } = (await frame.boundingBox()) ?? { x: 0, y: 0 };
  const zoom = async () => Number(/scale\((.*)\)/.exec((await still(page)).view)?.[1]);
  const fit = (await still(page)).view;
  const fitted = await zoom();
  await page.mouse.move(x + 300, y + 100);
  await page.mouse.wheel(0, -5_000);
  // A view is drawn with the next frame.
  await waitFor('the closest', async () => (await zoom()) === 4);
  await page.mouse.wheel(0, 20_000);
  await waitFor('the farthest', async () => (await zoom()) === Math.min(0.25, fitted));
  const before = (await still(page)).view;
  await page.mouse.down();
  await page.mouse.move(x + 350, y + 130, { steps: 5 });
  await page.mouse.up();
  const [left = 0, top = 0] = placeOf(before);
  await waitFor('it to be moved', async () => {
    const [nowLeft = 0, nowTop = 0] = placeOf((await still(page)).view);
    return Math.abs(nowLeft - left - 50) <= 1 && Math.abs(nowTop - top - 30) <= 1;
  });
  expect(page.url()).toMatch(new RegExp(`/runs/${run}$`));
  await page.getByRole('button', { name: 'Fit' }).click();
  await waitFor('it to be whole again', async () => (await still(page)).view === fit);
});

test('no box moves while a hundred jobs change', async () => {
  const gate = newGate();
  const jobs = many(150, (n) => (n < 10 ? [] : [n - 10]));
  Object.assign(jobs.j0 ?? {}, { run: gate.wait });
  const run = await cluster.submit({ name: 'w', jobs });
  const { page } = await openRun(run);
  await page.getByRole('button', { name: 'Fit' }).click();
  while ((await page.locator('[data-box]').count()) === 0)
    await page.getByRole('button', { name: 'Zoom in' }).click();
  const before = await still(page);
  await gate.open();
  await page.locator('.run-head').getByText('Completed').waitFor({ timeout: 60_000 });
  expect(await still(page)).toEqual(before);
  expect(before.boxes.length).toBeGreaterThan(10);
});

test('2,000 jobs: drawn at once, found, and few elements; a fan of alike ones is folded', async () => {
  const layered = many(2_000, (n) => (n < 50 ? [] : [n - 50, n % 50 === 0 ? n - 1 : n - 51]), NOBODY);
  const run = await cluster.submit({ name: 'w', jobs: layered });
  const { page, faults } = await openRun(run);
  const ms: number[] = [];
  for (let round = 0; round < 5; round++) {
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.locator('.time-row').first().waitFor();
    ms.push(await page.evaluate<number>(OPEN_GRAPH));
  }
  const sorted = ms.toSorted((a, b) => a - b).map(Math.round);
  console.log(`2,000 jobs: first paint ${sorted[2]} ms (${sorted[0]} to ${sorted.at(-1)})`);
  expect(await page.locator('.graph *').count()).toBeLessThan(1_000);
  await page.keyboard.press('/');
  await page.keyboard.type('j1234');
  await page.getByText('1 found').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('[data-box="j1234"]').waitFor();
  expect(await page.locator('.graph *').count()).toBeLessThan(1_000);
  expect(faults).toEqual([]);

  const fan = many(
    50,
    (n) => (n === 0 ? [] : n === 49 ? Array.from({ length: 48 }, (_, of) => of + 1) : [0]),
    NOBODY,
  );
  const folded = (await openRun(await cluster.submit({ name: 'fan', jobs: fan }))).page;
  await folded.getByRole('button', { name: /^j × 48/ }).click();
  await folded.locator('[data-box="j1"]').waitFor();
  await folded.getByRole('button', { name: 'Fold groups' }).click();
  await folded.getByRole('button', { name: /^j × 48/ }).waitFor();
});

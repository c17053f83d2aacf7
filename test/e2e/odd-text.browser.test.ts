// known fault 35: what a job says is text in the page, and does nothing there.
import { expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { startCluster } from '../support/cluster.ts';
import { ODD_NAME, ODD_SHELL } from '../support/odd-text.ts';
import { testDatabase } from '../support/postgres.ts';

test('known fault 35: markup, links and the clipboard of a terminal are text in the page', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  await using browser = await startBrowser();
  const run = await cluster.submit({
    name: ODD_NAME,
    jobs: { a: { name: ODD_NAME, run: `${ODD_SHELL}; { ${ODD_SHELL}; } >&2; exit 3` } },
  });
  await cluster.ended(run);
  const { page, faults } = await browser.open(`${cluster.url}/runs/${run}/jobs/a`);
  await page.locator('.log-row').getByText('last line').first().waitFor();
  const shown = await page.locator('.log-region').innerText();
  expect(shown).toContain(
    'nul \u2400 surrogate \ufffd\ufffd\ufffd invalid \ufffd link here clip  <b>bold</b>',
  );
  // A bar is drawn as it stood last.
  expect(shown).toContain('bar 3');
  expect(shown).not.toContain('bar 1');
  expect(
    await page.locator('.log-pane b, .log-pane a:not(.log-number, .button), img, script:not([src])').count(),
  ).toBe(0);
  expect(await page.locator('[href*="evil.example"]').count()).toBe(0);
  expect(await page.title()).not.toBe('1');
  const failure = await page.locator('.job-error').innerText();
  expect(`${shown}${failure}`.match(/(?![\n\t])\p{Cc}/gu)).toBe(null);
  expect(faults).toEqual([]);
});

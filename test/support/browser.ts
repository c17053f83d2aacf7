// The system's Chromium, driven by playwright-core, with everything noted that a good page does not do.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { inject } from 'vitest';

interface TestBrowser extends AsyncDisposable {
  /**
   * A new page at `url`. `faults` collects script errors, errors on the console (breaches of the content
   * security policy among them), and requests that leave the page's origin.
   */
  open: (url: string) => Promise<{ page: Page; faults: string[] }>;
}

export async function startBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    env: { PATH: process.env.PATH ?? '', TMPDIR: inject('runFolder') },
  });
  return {
    async open(url) {
      const page = await browser.newPage();
      const faults: string[] = [];
      const { origin } = new URL(url);
      page.on('pageerror', (err) => faults.push(err.message));
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== origin) faults.push(`request to ${request.url()}`);
      });
      await page.goto(url);
      return { page, faults };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

function findChromium(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const folder = folders.find((candidate) => existsSync(join(candidate, name)));
    if (folder) return join(folder, name);
  }
  throw new Error('these tests need Chromium: install it, on Debian by apt-get install chromium');
}

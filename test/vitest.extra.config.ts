// Suites with an npm script of their own: they need more than Node and npm, or much time. One file at a time,
// since what they look at is speed, or the whole machine.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const SUITES = {
  browser: 'test/e2e/**/*.browser.test.ts',
  chaos: 'test/chaos/**/*.test.ts',
  bench: 'test/bench/**/*.test.ts',
};

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 60_000,
    projects: Object.entries(SUITES).map(([name, include]) => ({
      extends: true,
      test: { name, include: [include], globalSetup: 'test/support/global-setup.ts' },
    })),
  },
});

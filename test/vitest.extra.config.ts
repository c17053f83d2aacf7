// Suites with an npm script of their own: they need more than Node and npm, or much time. One file at a time,
// since what they look at is speed, or the whole machine.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const DATABASE = 'test/support/global-setup.ts';
const SUITES = {
  browser: { include: ['test/e2e/**/*.browser.test.ts'], globalSetup: DATABASE },
  a11y: { include: ['test/e2e/**/*.a11y.test.ts'], globalSetup: DATABASE },
  walk: { include: ['test/e2e/workflow-graph/**/*.test.ts'], globalSetup: DATABASE },
  foreign: { include: ['test/foreign/**/*.test.ts'], globalSetup: DATABASE },
  chaos: { include: ['test/chaos/*.test.ts'], globalSetup: DATABASE },
  bench: { include: ['test/bench/**/*.test.ts'], globalSetup: DATABASE },
  'npm-package': { include: ['test/npm-package/**/*.test.ts'], globalSetup: DATABASE },
  containers: { include: ['test/containers/**/*.test.ts'], globalSetup: 'test/support/images.ts' },
};

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 60_000,
    projects: Object.entries(SUITES).map(([name, suite]) => ({ extends: true, test: { name, ...suite } })),
  },
});

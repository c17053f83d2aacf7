// The suite of `npm test`: needs Node and npm alone. What needs other programs is in vitest.extra.config.ts.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const NOT_CODE = ['**/node_modules/**', '**/dist/**'];
const PURE = 'test/integration/boundaries.test.ts';
/** Of the history checker alone: they need no database. */
const CHECKS = 'test/chaos/checks/*.test.ts';
/** Those of vitest.extra.config.ts. */
const EXTRA = ['**/*.{browser,a11y}.test.ts', 'test/e2e/workflow-graph/**'];
/** Of `npm run test:pooler` alone. */
const POOLED = process.env.WFG_TEST_POOLER ? [] : ['test/e2e/pooler.test.ts'];
const DATABASE = 'test/support/global-setup.ts';
/** What bells do, when there are some: of no use to `npm run test:deaf`, where none is heard. */
const BELLS = process.env.WFG_TEST_DEAF
  ? [
      'test/integration/{doorbell,listen}.test.ts',
      'test/integration/queries/sql-bells.test.ts',
      'test/integration/worker/{stop,wake-ups,watched-logs}.test.ts',
      'test/integration/api/watch.test.ts',
    ]
  : [];

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    // Tests start processes of their own: more than two files at once only makes everything late.
    pool: 'forks',
    maxWorkers: 2,
    // Bounds for what hangs, far beyond what a test takes on a slow machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{shared,services}/**/*.test.{ts,tsx}', PURE, CHECKS],
          exclude: NOT_CODE,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: [PURE, ...EXTRA, ...BELLS],
          globalSetup: DATABASE,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...EXTRA, ...BELLS, ...POOLED],
          globalSetup: DATABASE,
        },
      },
    ],
  },
});

// The suite of `npm test`: needs Node and npm alone. What needs other programs is in vitest.extra.config.ts.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    // Tests start processes of their own: more than two files at once only makes everything late.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{shared,services}/**/*.test.{ts,tsx}', 'test/integration/boundaries.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: ['test/integration/boundaries.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: 60_000,
        },
      },
    ],
  },
});

// The layout's rules hold for every file, and the check would notice if one did not.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { faultsOf } from '../support/boundaries.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['shared', 'services', 'migrations', 'deploy', 'test'];
const CODE = /\.(ts|tsx|js|mjs|sql|css|sh)$/;
/** Written by schema:dump. */
const GENERATED = 'migrations/schema.sql';

function codeFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : codeFiles(path);
    return CODE.test(entry.name) ? [relative(ROOT, path)] : [];
  });
}

const files = FOLDERS.flatMap((folder) => codeFiles(join(ROOT, folder))).filter((path) => path !== GENERATED);

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

test('every file keeps the rules', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap((path) => faultsOf(path, textOf(path)))).toEqual([]);
});

test('half of the files are shorter than 80 lines', () => {
  const lengths = files
    .filter((path) => !path.startsWith('test/') && !path.includes('.test.'))
    .map((path) => textOf(path).split('\n').length - 1)
    .sort((a, b) => a - b);
  expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThan(80);
});

test.each([
  ['shared/src/contract/run.ts', `import { jobStates } from '../rules/states.ts';`, 'stands above it'],
  ['shared/src/db/pool.ts', `export * from '../queries/claim.ts';`, 'stands above it'],
  ['shared/src/rules/states.ts', `const { x } = await import('../db/tx.ts');`, 'stands above it'],
  ['shared/src/queries/claim.ts', `import { start } from '@wfg/worker/src/main';`, 'may know a service'],
  ['services/api/src/app.ts', `import { claim } from '@wfg/worker/src/claim';`, 'import another'],
  [
    'services/api/src/app.ts',
    `import {\n  type A,\n} from '../../worker/src/claim.ts';`,
    'leaves its package',
  ],
  ['services/api/src/app.ts', `import { pool } from '../../../shared/src/db/pool.ts';`, 'leaves its package'],
  ['services/api/src/app.ts', `import { a } from './routes/runs';`, 'without the ending'],
  [
    'services/web/src/app.tsx',
    `import { Run } from '@wfg/shared/contract/run';`,
    'only have types of the contract',
  ],
  [
    'services/web/src/app.tsx',
    `import type { A } from '@wfg/shared/db/pool';`,
    'only have types of the contract',
  ],
  [
    'services/api/src/app.ts',
    'const sql = "select 1 for update\\n SKIP  LOCKED";',
    'belongs in shared/src/queries',
  ],
  ['shared/src/db/string-utils.ts', '', 'says nothing'],
  ['services/api/src/helpers/x.ts', '', 'says nothing'],
  ['test/e2e/long.test.ts', 'x\n'.repeat(301), 'more than 300'],
])('a fault planted in %s is found: %s', (path, text, fault) => {
  expect(faultsOf(path, text)).toEqual([expect.stringContaining(fault)]);
});

test.each([
  ['shared/src/runtime/loop.ts', `import { claim } from '../queries/claim.ts';`],
  ['shared/src/queries/claim.ts', `import { z } from 'zod';\n// for update skip locked`],
  ['services/api/src/app.ts', `import { claim } from '@wfg/shared/queries/claim';\nimport './routes.ts';`],
  ['services/web/src/app.tsx', `import type { Run } from '@wfg/shared/contract/run';`],
])('what %s may do passes: %s', (path, text) => {
  expect(faultsOf(path, text)).toEqual([]);
});

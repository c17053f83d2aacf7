// deploy/examples/module, copied and run as its README says.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { testDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/process.ts';
import { CLI } from '../support/wfg.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = readFileSync(join(ROOT, 'deploy/examples/module/README.md'), 'utf8');
const START = /^WFG_MODULES=(\S+) npm start$/m;

test('a copied module runs, and is checked, without anything else', { timeout: 180_000 }, async () => {
  // In the repository, as in the README, under a name that nobody has.
  const folder = `my-module-${randomUUID()}`;
  const [setUp = '', use = ''] = Array.from(README.matchAll(/```sh\n([^]*?)```/g), ([, block = '']) =>
    block.replaceAll('my-module', folder),
  );
  const [start = '', modules = ''] = START.exec(setUp) ?? [];
  const check = /`(npx tsc .*)`/.exec(README)?.[1]?.replace('my-module', folder) ?? '';
  await using database = await testDatabase();
  const env = {
    DATABASE_URL: database.url,
    WFG_DATA_DIR: await mkdtemp(join(inject('runFolder'), 'up-')),
  };
  const sh = async (script: string) => {
    const options = { cwd: ROOT, env: { PATH: process.env.PATH, HOME: inject('runFolder'), ...env } };
    return (await promisify(execFile)('sh', ['-c', script], options)).stdout;
  };
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(join(ROOT, folder), { recursive: true, force: true }));
  await sh(setUp.replace(start, ''));
  expect(await sh(check)).toBe('');

  const up = stack.use(
    startProcess('up', [CLI, 'up', '--json'], { ...env, PORT: '0', WFG_MODULES: modules }),
  );
  await up.logged('ready');
  const said = await sh(use);
  for (const line of [
    'order A-17 is paid: 12.5 EUR (try 1)',
    'order A-17 is packed',
    'the carrier does not answer',
    'parcel P-1 is on its way (try 2)',
    'thank you',
  ])
    expect(said).toContain(line);
  expect(said).toMatch(/order\.paid .* 1\/3 .* the payload does not fit order\.paid: cents: /);
});

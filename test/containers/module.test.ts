// A module of handlers in the stack: deploy/examples/module, copied and mounted as deploy/README.md says.
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTask } from '@wfg/shared/contract/routes/tasks';
import { expect, test } from 'vitest';
import { ROOT } from '../support/images.ts';
import { textOf } from '../support/numbers.ts';
import { startStack } from '../support/stack.ts';

const OVERRIDE = /^## Modules of your own\n[^]*?```yaml\n([^]*?)```/m;

test('a task of a module that is mounted runs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wfg-module-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true }));
  const copy = join(folder, 'my-module');
  await cp(join(ROOT, 'deploy/examples/module'), copy, { recursive: true });
  const [, example = ''] = OVERRIDE.exec(await readFile(join(ROOT, 'deploy/README.md'), 'utf8')) ?? [];
  const stack = cleanup.use(await startStack({ override: example.replace('./my-module', copy) }));

  const step = { Delivery: { Pack: { order: 'A-17' } } };
  const { run_id } = await stack.wfg(createTask, { body: { step } });
  expect((await stack.ended(run_id)).status).toBe('completed');
  expect(textOf(await stack.logs(run_id, 'main'), 0)).toContain('order A-17 is packed');
});

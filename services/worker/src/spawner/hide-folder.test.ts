// What a program can read that was started by hide-folder.pl, where the kernel has Landlock.
import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('hide-folder.pl', import.meta.url));

test('nothing in the folder can be read, nor by way of a link; all else can', async ({
  skip,
  onTestFinished,
}) => {
  skip(process.platform !== 'linux', 'this system has no Landlock');
  const folder = await mkdtemp(join(tmpdir(), 'wfg-hide-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const hidden = join(folder, 'hidden');
  await mkdir(hidden);
  await writeFile(join(hidden, 'secret'), 'hush');
  await writeFile(join(folder, 'plain'), 'open');
  await symlink(hidden, join(folder, 'link'));
  await symlink(join(folder, 'plain'), join(folder, 'plain-link'));
  const script = `cd '${folder}' && cat plain plain-link; cat hidden/secret link/secret || true`;
  const { stdout, stderr } = await promisify(execFile)('perl', [PROGRAM, hidden, '/bin/sh', '-c', script]);
  skip(stderr.includes('commands can read'), 'this kernel refuses');
  expect(stdout).toBe('openopen');
  expect(stderr.match(/Permission denied/g)).toHaveLength(2);
});

// Nothing secret is in git, nor open to other users.
import { execFile } from 'node:child_process';
import { mkdtemp, chmod, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

async function git(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, { cwd: ROOT });
  return stdout;
}

test('what deploy/make-secrets.sh makes is ignored, and no ignored file is tracked', async ({ skip }) => {
  // Whoever got the sources in another way has nothing that could be tracked.
  const root = await git('rev-parse', '--show-toplevel').catch(() => '');
  skip(root.trim() !== ROOT.replace(/\/$/, ''), 'no clone');
  expect(await git('check-ignore', 'deploy/secrets/admin_token')).toBe('deploy/secrets/admin_token\n');
  expect(await git('ls-files', 'deploy/secrets')).toBe('');
  expect(await git('ls-files', '--cached', '--ignored', '--exclude-standard')).toBe('');
});

test('a folder that was open to others is closed before secrets are put into it', async ({
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'wfg-secrets-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  await promisify(execFile)(join(ROOT, 'deploy/make-secrets.sh'), [folder]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, 'admin_token'))).size).toBeGreaterThan(32);
});

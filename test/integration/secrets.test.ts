// Nothing secret is in git.
import { execFile } from 'node:child_process';
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

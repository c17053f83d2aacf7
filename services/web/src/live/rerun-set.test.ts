import { expect, test } from 'vitest';
import { hasFailed, rerunSet } from './rerun-set.ts';

const job = (job_id: string, state: 'completed' | 'failed' | 'skipped', ...depends_on: string[]) => ({
  job_id,
  state,
  depends_on,
});
const jobs = [
  job('build', 'completed'),
  job('lint', 'completed'),
  job('test', 'failed', 'build'),
  job('docs', 'completed', 'build'),
  job('deploy', 'skipped', 'test', 'lint'),
];

test.each([
  [undefined, ['build', 'lint', 'test', 'docs', 'deploy']],
  ['failed', ['test', 'deploy']],
  ['build', ['build', 'test', 'docs', 'deploy']],
  ['docs', ['docs']],
])('from %s', (from, expected) => {
  expect(rerunSet(jobs, from)).toEqual(expected);
});

test('whether there is something to begin at', () => {
  expect(hasFailed(jobs)).toBe(true);
  expect(hasFailed(jobs.filter(({ state }) => state === 'completed'))).toBe(false);
});

import { expect, test } from 'vitest';
import { createFolds, foldsByItself, unfolded } from './fold.ts';
import type { Line } from './store.ts';

const line = (text: string, stream: Line['stream'] = 'stdout'): Line => ({
  attempt: 0,
  number: 1,
  stream,
  at: 0,
  text,
  cut: 0,
});

function foldsOf(...lines: (string | Line)[]) {
  const all = [...lines, ''].map((one) => (typeof one === 'string' ? line(one) : one));
  const folds = createFolds();
  folds.read(all);
  return { all, groups: folds.groups };
}

test('groups, groups in groups, steps', () => {
  const { groups } = foldsOf(
    '=== build ===',
    '::group::install',
    'a',
    '::group::native',
    'b',
    '::endgroup::',
    '::endgroup::',
    '\u001b[1m=== not\u001b[0m ===',
    '=== test ===',
    line('oops', 'stderr'),
  );
  expect(
    groups.map(({ title, begin, end, hasErrors, isStep }) => [title, begin, end, hasErrors, isStep]),
  ).toEqual([
    ['build', 0, 7, false, true],
    ['install', 1, 6, false, false],
    ['native', 3, 5, false, false],
    ['test', 8, null, true, true],
  ]);
});

test('an end without a beginning is nothing, and another attempt ends all', () => {
  const { groups } = foldsOf('::endgroup::', '::group::a', 'x', line('Attempt 1', null), 'y');
  expect(groups).toMatchObject([{ title: 'a', begin: 1, end: 2 }]);
});

test('what is left when some are folded', () => {
  const { all, groups } = foldsOf('0', '::group::a', '::group::b', '3', '::endgroup::', '::endgroup::', '6');
  const [a, b] = groups;
  if (!a || !b) throw new Error('no groups');
  expect(unfolded(all, [], null)).toBeNull();
  expect(unfolded(all, [a, b], null)).toEqual([0, 1, 6, 7]);
  expect(unfolded(all, [b], null)).toEqual([0, 1, 2, 5, 6, 7]);
  expect(unfolded(all, [], (one) => one.text === '3')).toEqual([3]);
});

test('what folds by itself', () => {
  const { groups } = foldsOf(
    '::group::a',
    '::endgroup::',
    '::group::b',
    line('x', 'stderr'),
    '::endgroup::',
    '=== s ===',
    '::group::c',
  );
  const byItself = (hasFailed: boolean) =>
    groups.map((group, at) => foldsByItself(group, at === 0, hasFailed));
  expect(byItself(false)).toEqual([true, false, false, false]);
  expect(byItself(true)).toEqual([false, false, false, false]);
});

test('100,000 lines in 1,000 groups fold quickly', () => {
  const { all, groups } = foldsOf(
    ...Array.from({ length: 1_000 }, () => [
      '::group::g',
      ...Array.from({ length: 98 }, () => 'text'),
      '::endgroup::',
    ]).flat(),
  );
  const startedAt = performance.now();
  expect(unfolded(all, groups, null)).toHaveLength(1_001);
  const folding = performance.now() - startedAt;
  console.log(`100,000 lines folded in ${folding.toFixed(1)} ms`);
});

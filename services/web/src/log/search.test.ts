import { expect, test } from 'vitest';
import { findLines, matcherOf, rangesOf } from './search.ts';
import type { Line } from './store.ts';

const line = (text: string): Line => ({ attempt: 0, number: 1, stream: 'stdout', at: 0, text, cut: 0 });
const LINES = ['one', 'Two (2)', '\u001b[31mthr\u001b[0mee', 'one two'].map(line);
const find = (text: string, isRegex = false, isCase = false) => {
  const matcher = matcherOf({ text, isRegex, isCase });
  return matcher && findLines(LINES, matcher, 0, () => false).found;
};

test('text, with and without case, and through colours', () => {
  expect(find('two')).toEqual([1, 3]);
  expect(find('two', false, true)).toEqual([3]);
  expect(find('(2)')).toEqual([1]);
  expect(find('three')).toEqual([2]);
  expect(find('')).toBeNull();
});

test('regular expressions, of which a bad one is told', () => {
  expect(find('^one$', true)).toEqual([0]);
  expect(() => find('(', true)).toThrow(SyntaxError);
});

test('where it stands', () => {
  const matcher = matcherOf({ text: 'o', isRegex: false, isCase: false });
  expect(matcher && rangesOf('one two', matcher)).toEqual([
    [0, 1],
    [6, 7],
  ]);
  // Also after it was used elsewhere.
  matcher?.test('oooo');
  expect(matcher && rangesOf('one', matcher)).toEqual([[0, 1]]);
  const empty = matcherOf({ text: 'x*', isRegex: true, isCase: false });
  expect(empty && rangesOf('axb', empty)).toEqual([[1, 2]]);
});

test('200,000 lines are searched in slices', () => {
  const many = Array.from({ length: 200_000 }, (_, n) =>
    line(`line ${n} of a build that goes on and on for a while`),
  );
  const matcher = matcherOf({ text: '99999', isRegex: false, isCase: false });
  if (!matcher) throw new Error('nothing to find');
  let [from, slices] = [0, 0];
  const found: number[] = [];
  const startedAt = performance.now();
  while (from < many.length) {
    const until = performance.now() + 8;
    const part = findLines(many, matcher, from, () => performance.now() > until);
    found.push(...part.found);
    from = part.next;
    slices++;
  }
  console.log(`200,000 lines searched in ${(performance.now() - startedAt).toFixed(0)} ms, ${slices} slices`);
  expect(found).toEqual([99_999, 199_999]);
});

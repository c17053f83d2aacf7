import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorWords } from './error-words.ts';

function reading(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (err) {
    return errorWords(err);
  }
}

test('what the system says is put into words', () => {
  expect(reading('/there/is/none.yml')).toBe('there is no such file');
  expect(reading('/')).toBe('it is a folder');
});

test('what has no words of ours stays as it is', () => {
  expect(errorWords(new Error('odd'))).toBe('odd');
  expect(errorWords('odd')).toBe('odd');
});

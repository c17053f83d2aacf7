import { expect, test } from 'vitest';
import { createLogLines } from './log-lines.ts';

test('a line is given when it is whole, wherever its chunks were cut', () => {
  const lines = createLogLines();
  expect(lines.push('stdout', 'on')).toEqual([]);
  expect(lines.push('stdout', 'e\ntwo\nth')).toEqual(['one', 'two']);
  expect(lines.push('stdout', 'ree\n')).toEqual(['three']);
  expect(lines.flush()).toEqual([]);
});

test('the streams do not run into each other', () => {
  const lines = createLogLines();
  lines.push('stdout', 'out ');
  expect(lines.push('stderr', 'err\n')).toEqual(['err']);
  expect(lines.push('stdout', 'put\n')).toEqual(['out put']);
});

test('a last line without an end is not lost', () => {
  const lines = createLogLines();
  lines.push('stdout', 'a\nlast');
  lines.push('stderr', 'words\r');
  expect(lines.flush()).toEqual(['last', 'words']);
  expect(lines.flush()).toEqual([]);
});

test('of a progress bar the last state remains, and Windows line ends are line ends', () => {
  const lines = createLogLines();
  expect(lines.push('stdout', '10 %\r20 %\r')).toEqual([]);
  expect(lines.push('stdout', '100 %\ndone\r\n')).toEqual(['100 %', 'done']);
});

test('a line without end does not fill the memory', () => {
  const lines = createLogLines();
  const pieces = Array.from({ length: 10 }, () => lines.push('stdout', 'x'.repeat(40_000))).flat();
  expect(pieces.join('').length + lines.flush().join('').length).toBe(400_000);
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(110_000);
});

test('an empty line is a line', () => {
  expect(createLogLines().push('stdout', '\n\na\n')).toEqual(['', '', 'a']);
});

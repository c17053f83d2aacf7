import { expect, test } from 'vitest';
import { jsonLine, terminalLine, terminalSafe } from './terminal-safe.ts';

const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);
const CSI = String.fromCharCode(0x9b);

test('colours and white space stay', () => {
  const text = `${ESC}[1;31mred${ESC}[0m\tand\r\nplain ${ESC}[m ä 漢 😀`;
  expect(terminalSafe(text)).toBe(text);
});

test.each([
  ['writes the clipboard', `${ESC}]52;c;aGk=${BEL}`, '␛]52;c;aGk=␇'],
  ['clears the screen', `${ESC}[2J`, '␛[2J'],
  ['moves the cursor', `${ESC}[10;10H`, '␛[10;10H'],
  ['begins a sequence in one character', `${CSI}2J`, '\ufffd2J'],
  ['rings and deletes', `${BEL}${String.fromCharCode(127)}`, '␇␡'],
])('what %s is only shown', (_, text, shown) => {
  expect(terminalSafe(text)).toBe(shown);
  expect(terminalLine(text)).toBe(shown);
});

test('a line stays one line, and its colours end with it', () => {
  expect(terminalLine('one\r\ntwo\rthree')).toBe('one two three');
  expect(terminalLine(`${ESC}[31mred`)).toBe(`${ESC}[31mred${ESC}[0m`);
  expect(terminalLine('plain')).toBe('plain');
});

test('a line of JSON means the same and holds no control character', () => {
  const value = { data: `${ESC}[2J${CSI}2J${String.fromCharCode(127)} ä` };
  const line = jsonLine(value);
  expect(JSON.parse(line)).toEqual(value);
  expect(line.trimEnd()).not.toMatch(/\p{Cc}/u);
});

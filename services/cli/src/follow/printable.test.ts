import { expect, test } from 'vitest';
import { printable, withoutBleeding } from './printable.ts';

const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);

test('colours and white space stay', () => {
  const text = `${ESC}[1;31mred${ESC}[0m\tand\r\nplain ${ESC}[m ä 漢 😀`;
  expect(printable(text)).toBe(text);
});

test.each([
  ['writes the clipboard', `${ESC}]52;c;aGk=${BEL}`, '␛]52;c;aGk=␇'],
  ['clears the screen', `${ESC}[2J`, '␛[2J'],
  ['moves the cursor', `${ESC}[10;10H`, '␛[10;10H'],
  ['begins a sequence in one character', `${String.fromCharCode(0x9b)}2J`, '\ufffd2J'],
  ['rings and deletes', `${BEL}${String.fromCharCode(127)}`, '␇␡'],
])('what %s is only shown', (_, text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('colours end with their line', () => {
  expect(withoutBleeding(`${ESC}[31mred`)).toBe(`${ESC}[31mred${ESC}[0m`);
  expect(withoutBleeding('plain')).toBe('plain');
});

import { expect, test } from 'vitest';
import { overwritten, plainText, spansOf } from './ansi.ts';

const ESC = '\u001b';

test('plain text is one span', () => {
  expect(spansOf('plain <b>text</b>')).toEqual([{ text: 'plain <b>text</b>', className: '' }]);
});

test.each([
  [`${ESC}[31mred${ESC}[0m`, { text: 'red', className: 'a-fg1' }],
  [`${ESC}[1;32mok${ESC}[m`, { text: 'ok', className: 'a-bold a-fg2' }],
  [`${ESC}[97;41mx`, { text: 'x', className: 'a-fg15 a-bg1' }],
  [`${ESC}[38;5;9mx`, { text: 'x', className: 'a-fg9' }],
  [`${ESC}[38;5;208mx`, { text: 'x', className: '', color: 'rgb(255 135 0)' }],
  [`${ESC}[48;5;244mx`, { text: 'x', className: '', background: 'rgb(128 128 128)' }],
  [`${ESC}[38;2;1;2;999mx`, { text: 'x', className: '', color: 'rgb(1 2 255)' }],
  [`${ESC}[4m${ESC}[3m${ESC}[24mx`, { text: 'x', className: 'a-italic' }],
  [`${ESC}[38;5;208;1mx`, { text: 'x', className: 'a-bold', color: 'rgb(255 135 0)' }],
])('%j', (text, span) => {
  expect(spansOf(text)).toEqual([span]);
});

test('a style lasts until it is taken back', () => {
  expect(spansOf(`a${ESC}[31mb${ESC}[39mc`)).toEqual([
    { text: 'a', className: '' },
    { text: 'b', className: 'a-fg1' },
    { text: 'c', className: '' },
  ]);
});

test.each([
  ['erase and cursor', `a${ESC}[2K${ESC}[1Gb`, 'ab'],
  ['link (OSC 8)', `${ESC}]8;;https://example.com${ESC}\\text${ESC}]8;;${ESC}\\`, 'text'],
  ['clipboard (OSC 52)', `a${ESC}]52;c;aGk=\u0007b`, 'ab'],
  ['character set', `${ESC}(Btext`, 'text'],
  ['string without end', `a${ESC}]0;title`, 'a'],
  ['escape at the end', `a${ESC}`, 'a'],
  ['sequence cut off', `a${ESC}[3`, 'a'],
])('dropped: %s', (_name, text, left) => {
  const shown = spansOf(text).map((span) => span.text);
  expect(shown.join('')).toBe(left);
  expect(plainText(text)).toBe(left);
});

test.each([
  ['10%\r20%\r30%', '30%'],
  ['10%\r20%\r', '20%\r'],
  ['plain\r\r', 'plain\r\r'],
  ['\r', '\r'],
  ['', ''],
])('carriage returns overwrite: %j', (text, left) => {
  expect(overwritten(text)).toBe(left);
});
